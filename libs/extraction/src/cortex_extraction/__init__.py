"""What a text names: entities, and the times it speaks of. Pure functions."""
