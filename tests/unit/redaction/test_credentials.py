"""Credentials are cut by kind, and what only looks like one stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_redaction import redact

HARMLESS = (Path(__file__).parent / "harmless.txt").read_text(encoding="utf-8").splitlines()


def letters(count: int, alphabet: str = "aB3dE5fG7hJ9kLmN2pQrS4tUvW6xYz8c") -> str:
    """A token body, made at run time so that no scanner takes this file for a leak."""
    return (alphabet * (count // len(alphabet) + 1))[:count]


HEX = "0a1b2c3d4e5f6789"
BASE32 = "A2B3C4D5E6F7GHIJKLMNOPQRSTUVWXYZ"
JWT = "ey" + "J" + letters(20) + "." + "ey" + "J" + letters(40) + "." + letters(43)
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + "\n".join([letters(64)] * 3) + "\n" + letters(8)

POSITIVE = [
    ("aws-access-key", "AK" + "IA" + letters(16, BASE32)),
    ("aws-access-key", "AS" + "IA" + letters(16, BASE32)),
    ("github-token", "gh" + "p_" + letters(36)),
    ("github-token", "gh" + "o_" + letters(36)),
    ("github-token", "github" + "_pat_" + letters(22) + "_" + letters(59)),
    ("gitlab-token", "gl" + "pat-" + letters(20)),
    ("slack-token", "xo" + "xb-123456789012-1234567890123-" + letters(24)),
    ("slack-token", "xap" + "p-1-A0123456789-1234567890123-" + letters(64)),
    ("stripe-key", "sk" + "_live_" + letters(24)),
    ("stripe-key", "whs" + "ec_" + letters(32)),
    ("ai-key", "sk" + "-ant-api03-" + letters(93) + "AA"),
    ("ai-key", "sk" + "-proj-" + letters(48)),
    ("ai-key", "sk" + "-" + letters(48)),
    ("ai-key", "hf" + "_" + letters(34)),
    ("google-key", "AI" + "za" + letters(35)),
    ("google-key", "GOC" + "SPX-" + letters(28)),
    ("cortex-key", "ct" + "x_0123456789ab_" + letters(43)),
    ("npm-token", "np" + "m_" + letters(36)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + letters(80)),
    ("jwt", JWT),
    ("nats-seed", "S" + "U" + letters(56, BASE32)),
    ("private-key", "AGE-SECRET" + "-KEY-1" + letters(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("private-key", PEM + "\n-----END RSA PRIVATE" + " KEY-----"),
    ("private-key", PEM.replace("\n", "\\n") + "\\n-----END RSA PRIVATE" + " KEY-----"),
    ("private-key", PEM),
    ("private-key", PEM.replace("RSA PRIVATE", "OPENSSH PRIVATE") + "\n-----END OPENSSH PRIVATE" + " KEY-----"),
    (
        "private-key",
        "-----BEGIN PGP PRIVATE" + " KEY BLOCK-----\n\n" + letters(64) + "\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("telegram-token", "123456789" + ":AA" + letters(33)),
    ("service-token", "S" + "G." + letters(22) + "." + letters(43)),
    ("service-token", "hv" + "s." + letters(60)),
    ("service-token", "shp" + "at_" + letters(32, HEX)),
]
KEPT = [
    ("aws-secret-key", "AK" + "IA" + letters(16, BASE32) + ",", letters(40), "\n"),
    ("password", "postgres://cortex:", "hunter-two", "@db.example:5432/cortex?sslmode=require"),
    ("password", "postgresql+asyncpg://u:", "p@ss/w:rd", "@host/db"),
    ("password", "redis://:", "letmein", "@cache:6379/0"),
    ("password", "mongodb+srv://admin:", "Tr0ub4dor", "@cluster.example"),
    ("password", "https://user:", "s3cr3t", "@example.org/x"),
    ("webhook", "https://hooks.slack.com/services/", "T00000000/B00000000/" + letters(24), " and"),
    ("webhook", "https://discord.com/api/webhooks/", "123456789012345678/" + letters(68), ""),
    ("azure-key", "AccountName=a;AccountKey=", letters(86) + "==", ";EndpointSuffix=core"),
    ("azure-key", "Endpoint=sb://x/;SharedAccessKey=", letters(43) + "=", ""),
    ("authorization", "Authorization: Bearer ", letters(40), ""),
    ("authorization", "Authorization: Basic ", "dXNlcjpw" + "YXNz", ""),
    ("authorization", '{"authorization": "Bearer ', letters(24), '"}'),
    ("authorization", "send Bearer ", letters(32), " with it"),
    ("password", "curl -u admin:", "geheim", " https://example.org"),
    ("password", "password=", "hunter2", ""),
    ("password", "password=", "letmein", ""),
    ("password", "user: sara\n  password: ", "letmein", "\nhost: db"),
    ("password", "DB_PASSWORD=", "letmein", ""),
    ("password", 'password = "', "correcthorse", '"'),
    ("password", '"password": "', "correcthorse", '",'),
    ("password", "mysql --password=", "letmein", " -h db"),
    ("password", "mysql --password ", "letmein", " -h db"),
    ("password", "Server=db;Password=", "letmein", ";Encrypt=yes"),
    ("password", "password: ", "S3cure!pass", ""),
    ("password", "The password is ", "hunter2", "."),
    ("password", "the password for staging is ", "Blue$kies", " now"),
    ("password", 'the password is "', "letmein", '"'),
    ("password", "my password: ", "hunter22", ", remember it"),
    ("password", "the pin is ", "4711", "."),
    ("password", "كلمة السر: ", "hunter2", ""),
    ("password", "كلمة المرور هي ", "letmein", " للخادم"),
    ("password", "كلمة سر الخادم: ", "P@ssw0rd", ""),
    ("password", "الرقم السري هو ", "٤٧١١", ""),
    ("password", "الباسورد: ", "abc12345", ""),
    ("secret", "aws_secret_access_key = ", letters(40), ""),
    ("secret", "api_key = '", letters(24), "'"),
    ("secret", '"apiKey": "', letters(24), '"'),
    ("secret", "X-Api-Key: ", letters(24), ""),
    ("secret", "client_secret: ", letters(24), ""),
    ("token", "auth_token=", letters(24), ""),
]


@pytest.mark.parametrize(("kind", "token"), POSITIVE, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(POSITIVE)])
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("use ", " here"), ("المفتاح ", " انتهى"), ("(`", "`)"), ('"', '"')]
)
def test_a_token_is_cut_wherever_it_stands(kind: str, token: str, before: str, after: str) -> None:
    found = redact(before + token + after)
    assert found.text == f"{before}[redacted:{kind}]{after}"
    assert found.credentials == {kind: 1}
    assert redact(found.text).text == found.text


@pytest.mark.parametrize(
    ("kind", "before", "secret", "after"), KEPT, ids=[f"{row[0]}-{n}" for n, row in enumerate(KEPT)]
)
def test_what_surrounds_a_secret_stays(kind: str, before: str, secret: str, after: str) -> None:
    found = redact(before + secret + after)
    assert secret not in found.text
    assert found.text.endswith(f"[redacted:{kind}]{after}")
    if not before.startswith("AK"):
        assert found.text == f"{before}[redacted:{kind}]{after}"
    assert redact(found.text).text == found.text


@pytest.mark.parametrize("line", HARMLESS, ids=[f"line-{number}" for number in range(1, len(HARMLESS) + 1)])
def test_ordinary_prose_and_code_stay_as_they_are(line: str) -> None:
    assert redact(line).text == line


def test_the_harmless_lines_stay_together_too() -> None:
    assert len(HARMLESS) >= 150
    text = "\n".join(line for line in HARMLESS if "BEGIN" not in line)
    assert redact(text).text == text


@pytest.mark.parametrize(
    "unit",
    [
        "<private",
        "`<private>` ",
        "-----BEGIN RSA PRIVATE" + " KEY-----\n",
        "password",
        "secret-",
        "a://b:",
        "curl -u ",
        "ey" + "J.",
    ],
)
def test_hostile_repetition_ends(unit: str) -> None:
    found = redact((unit * (200_000 // len(unit)))[:200_000])
    assert redact(found.text).text == found.text
