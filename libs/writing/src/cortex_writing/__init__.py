"""How a memory is written, by whoever writes one: ingest what is told, sleep what it makes of that."""
