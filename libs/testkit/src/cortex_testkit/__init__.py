"""Real servers and fixtures for the test suite (development only).

`plugin` holds the fixtures; `provider` finds each server: an address from the environment, else the embedded binary,
else a container, else a failure with one sentence (ADR 0007). Nothing is ever skipped.
"""
