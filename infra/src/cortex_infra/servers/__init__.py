"""The servers Cortex needs, each from a wheel and each replaceable by another distribution of the same protocol."""
