"""What every Cortex service runs on.

`service.Service` ties the parts together; each part is one concept and one module: `bus` (publish, request, serve,
consume), `settle` (what happens to a message after its handler), `inbox` and `outbox` (exactly-once effects on
PostgreSQL), `dead_letters`, `settings`, `tracing`, `logs`, `health`.
"""

from importlib.metadata import version

VERSION = version("cortex-runtime")
