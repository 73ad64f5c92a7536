"""Subjects, messages, streams, consumers, errors and headers of the Cortex bus.

Plain data and pydantic: no I/O and no framework, so a bare NATS client can use it. Start at `registry.py`: it lists
every message and every RPC; `services.py` says who publishes, calls, serves and consumes what.
"""
