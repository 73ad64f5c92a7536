"""What must never be stored, cut out of a text before anything else sees it. Pure functions.

- Private spans: `<private>…</private>` in every spelling (`tags`, `spans`) becomes `[private]`.
- Credentials by form (`credentials`) and by what is written before them (`assignments`) become `[redacted:<kind>]`;
  the rest of a connection string, a header or an assignment stays.
- Blocks that a harness or Cortex put into the context (`tags.INJECTED`) are stripped: memory must not feed on itself.

Each field of a memory is redacted by itself: a span that opens in one does not reach into another.

The patterns are our own: detect-secrets 1.5.0 (its last release is of May 2024) reads single lines, yields values
without positions, verifies over the network, took 13 s for a megabyte, flags every git hash and knows neither prose
nor Arabic.
"""

from cortex_redaction.blocks import memory_block
from cortex_redaction.redaction import PRIVATE_MARKER, Redaction, redact
from cortex_redaction.stored import redacted

__all__ = ["PRIVATE_MARKER", "Redaction", "memory_block", "redact", "redacted"]
