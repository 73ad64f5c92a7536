"""Why a delivery is refused.

DeliveryError
├── Forged     its signature is missing, or made with a secret that is not (or no longer) ours
├── TooLarge   its body is longer than GitHub ever sends
├── TooSlow    its body did not arrive in time, or not whole
└── Malformed  it is signed, but it is not a GitHub delivery
"""

from __future__ import annotations


class DeliveryError(Exception):
    """A request that is not accepted: how HTTP says so, and a sentence for whoever configured the hook."""

    status = 400
    name = "malformed"


class Forged(DeliveryError):
    """The signature is missing or wrong."""

    status = 403
    name = "bad_signature"


class TooLarge(DeliveryError):
    """The body is too long."""

    status = 413
    name = "too_large"


class TooSlow(DeliveryError):
    """The body did not arrive."""

    status = 408
    name = "timeout"


class Malformed(DeliveryError):
    """The request is not a GitHub delivery; the message says what was expected."""
