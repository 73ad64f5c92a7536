"""What can go wrong with a vault, and with a draft of a memory.

CortexError (cortex_contracts)
├── Retryable
│   ├── RepositoryUnreachable   git could not fetch: the network, the server or the credentials
│   ├── VaultBusy               another replica is syncing this vault
│   └── WentCold                what a draft was compared with left the hot tier meanwhile
└── Permanent
    ├── UnknownVault            no vault of that name is configured
    ├── BranchMissing           the repository has no such branch (any more)
    ├── UnreadablePage          a file is no page; the others are
    └── InvalidMessage (cortex_contracts)
        └── NothingLeft         all of a draft's content had to be cut out
"""

from __future__ import annotations

from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent, Retryable


class RepositoryUnreachable(Retryable):
    """Git could not fetch."""


class VaultBusy(Retryable):
    """Another replica is syncing this vault; what it does not see, the next delivery finds."""


class WentCold(Retryable):
    """A memory that a draft was compared with has left the hot tier: the draft is decided on again."""


class UnknownVault(Permanent):
    """No vault of that name is configured."""

    code = ErrorCode.NOT_FOUND


class BranchMissing(Permanent):
    """The repository has no such branch."""

    code = ErrorCode.NOT_FOUND


class UnreadablePage(Permanent):
    """The file is no page."""


class NothingLeft(InvalidMessage):
    """All of the content was private, a credential or injected."""
