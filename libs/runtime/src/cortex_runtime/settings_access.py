"""Settings of who may ask, and how often."""

from __future__ import annotations

from pydantic import SecretStr, field_validator

from cortex_runtime.settings_part import SettingsPart, setting


class TokenSettings(SettingsPart):
    """Signed tokens (JWT) that the gateway takes: with a shared secret (HS256), by the keys of an issuer, or both."""

    jwt_secret: SecretStr = setting("JWT_SECRET", default=SecretStr(""))
    jwt_jwks_url: str = setting("JWT_JWKS_URL", default="")
    jwt_audience: str = setting("JWT_AUDIENCE", default="")
    """Without one, a token that names an audience is refused: it is for somebody else (RFC 7519 section 4.1.3)."""
    jwt_issuer: str = setting("JWT_ISSUER", default="")
    jwt_leeway_s: float = setting("JWT_LEEWAY_S", default=30.0)
    jwt_org_claim: str = setting("JWT_ORG_CLAIM", default="org")

    @field_validator("jwt_secret")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        secret = value.get_secret_value().strip()
        if secret and len(secret.encode()) < 32:
            raise ValueError("expected at least 32 bytes (RFC 7518 section 3.2)")
        return SecretStr(secret)

    @field_validator("jwt_jwks_url", "jwt_audience", "jwt_issuer", "jwt_org_claim")
    @classmethod
    def _trimmed(cls, value: str) -> str:
        return value.strip()

    @field_validator("jwt_leeway_s")
    @classmethod
    def _leeway(cls, value: float) -> float:
        if not 0 <= value <= 300:
            raise ValueError("expected between 0 and 300 seconds")
        return value

    @field_validator("jwt_org_claim")
    @classmethod
    def _own_claim(cls, value: str) -> str:
        if not value or value in ("sub", "exp", "aud", "iss", "role", "readable", "writable"):
            raise ValueError("expected the name of a claim that says nothing else")
        return value


class RateSettings(SettingsPart):
    """How many requests a principal may make in a minute, by class; 0: any number. The last one is wrong credentials of
    one client address."""

    rate_requests: int = setting("RATE_REQUESTS", default=1_200)
    """Twice the load that the gateway is made to sustain, 10 requests a second, from one principal alone."""
    rate_bulk: int = setting("RATE_BULK", default=12_000)
    rate_chat: int = setting("RATE_CHAT", default=120)
    rate_failures: int = setting("RATE_FAILURES", default=30)

    @field_validator("rate_requests", "rate_bulk", "rate_chat", "rate_failures")
    @classmethod
    def _count(cls, value: int) -> int:
        if not 0 <= value <= 1_000_000:
            raise ValueError("expected between 0 and 1000000 a minute")
        return value
