"""What is published on the bus: commands (imperative) and events (past tense)."""
