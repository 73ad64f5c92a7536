"""What the store refuses.

CortexError (cortex_contracts)
├── Unavailable            PostgreSQL is away or cannot work now: the same call may succeed later
├── Retryable
│   └── ModelChanged       the database was moved to another model: the call succeeds after a restart with its settings
└── Permanent
    └── StoreError
        ├── SlugTaken           another file of the vault has this slug already
        ├── VaultForbidden      the bound principal may not write the vault
        ├── EmbeddingMismatch   the database holds vectors of another model or dimension
        └── UnsafeRole          the login would see the rows of every org
"""

from __future__ import annotations

from cortex_contracts.errors import ErrorCode, Permanent, Retryable


class StoreError(Permanent):
    """Base of what the store refuses for good."""


class SlugTaken(StoreError):
    """Two files of one vault ask for the same slug; the first one keeps it."""

    code = ErrorCode.CONFLICT

    def __init__(self, slug: str, holder: str, claimant: str) -> None:
        super().__init__(f"{claimant!r} and {holder!r} both ask for the slug {slug!r}; {holder!r} keeps it")
        self.slug = slug
        self.holder = holder
        self.claimant = claimant


class VaultForbidden(StoreError):
    """The bound principal may not write the vault."""

    code = ErrorCode.FORBIDDEN

    def __init__(self, vault: str) -> None:
        super().__init__(f"no access to write the vault {vault!r}")


class ModelChanged(Retryable):
    """`cortex reindex` has moved the database to another model than this service was started with."""


class EmbeddingMismatch(StoreError):
    """Vectors of two models cannot be compared."""

    code = ErrorCode.CONFLICT


class UnsafeRole(StoreError):
    """Row security does not hold for the login role."""

    code = ErrorCode.FORBIDDEN
