"""The hot tier: memories, pages and events in PostgreSQL, one place per concept.

`database.py` opens transactions that are bound to one org; every other function takes the connection of such a
transaction. Rows are frozen dataclasses. SQL for a table lives in the module of its name, retrieval in `search.py`.
"""
