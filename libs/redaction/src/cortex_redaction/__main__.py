"""`python -m cortex_redaction`: UTF-8 in, JSON out. For texts of megabytes, whose regular expressions would hold up
whoever else works in the process."""

from __future__ import annotations

import json
import sys

from cortex_redaction.stored import redacted

if __name__ == "__main__":
    found = redacted(sys.stdin.buffer.read().decode(errors="replace"))
    counts = {"private": found.private, "credentials": sum(found.credentials.values()), "injected": found.injected}
    sys.stdout.buffer.write(json.dumps({"text": found.text, **counts}).encode())
