"""The archive: questions to the cold tier."""
