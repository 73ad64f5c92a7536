"""GitHub deliveries in, sync commands out."""
