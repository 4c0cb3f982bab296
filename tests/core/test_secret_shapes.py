"""What looks like a secret is found where it is one, and nowhere else."""

from __future__ import annotations

import pytest

from contextkit.secret_shapes import find_secrets, hide_secrets

LETTERS = "a1B2" * 12
ISSUED = {
    "ghp_" + LETTERS[:36]: "a GitHub token",
    "github_pat_" + LETTERS[:40]: "a GitHub token",
    "glpat-" + LETTERS[:20]: "a GitLab token",
    "AKIA" + "ABCD1234" * 2: "an AWS access key",
    "AIza" + LETTERS[:35]: "a Google API key",
    "xoxb-" + "1234567890-" + LETTERS[:20]: "a Slack token",
    "https://hooks.slack.com/services/T0001/B0001/" + LETTERS[:24]: "a Slack token",
    "sk_" + "live_" + LETTERS[:24]: "a Stripe key",
    "sk-" + "ant-api03-" + LETTERS: "an API key",
    "sk-" + "proj-" + LETTERS: "an API key",
    "hf_" + LETTERS[:34]: "a token",
    "npm_" + LETTERS[:36]: "a token",
    "pypi-" + LETTERS: "a token",
    "SG." + LETTERS[:22] + "." + LETTERS[:43]: "a SendGrid key",
    "123456789:AA" + LETTERS[:33]: "a Telegram bot's token",
    f"eyJ{LETTERS[:12]}.{LETTERS[:20]}.{LETTERS[:20]}": "a JSON web token",
    "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7 + "GF": "a private key",
    "-----BEGIN RSA PRIVATE KEY-----\nab\ncd\n-----END RSA PRIVATE KEY-----": "a private key",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nhalf of it": "a private key",
}


@pytest.mark.parametrize("secret", ISSUED)
def test_the_tokens_of_services_are_known_by_their_shape(secret: str) -> None:
    """Whatever stands around them; what they look like is said, and where."""
    text = f"First line.\nIt is {secret}"
    (found,) = find_secrets(text)
    assert found.kind == ISSUED[secret]
    assert secret.endswith(text[found.start : found.end])
    assert found.line == 2
    assert text.splitlines()[1][found.column - 1 :].startswith(text[found.start : found.start + 4])
    assert str(found) == f"{found.kind} (line 2, from character {found.column})"
    assert text[found.start : found.end] not in hide_secrets(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: hunter2", "hunter2"),
        ("The password is hunter2.", "hunter2."),
        ("the passphrase for the staging database was: tidal99", "tidal99"),
        ("Password: swordfish\nfor the test system", "swordfish"),
        ('log in with {"password": "correct horse", "user": "a"}', '"correct horse"'),
        ("use `DB_PASSWORD=Sw0rd!fish`", "Sw0rd!fish"),
        ("mysql --password hunter2 db", "hunter2"),
        ("git clone https://me:hunter2@host/x", "hunter2"),
        ("postgres://tide:swordfish9@db:5432/tide", "swordfish9"),
        (f"API_KEY={LETTERS[:32]}", LETTERS[:32]),
        (f"the API key of the billing service is {LETTERS[:24]}", LETTERS[:24]),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG2bPxRfiCY", "wJalrXUtnFEMI/K7MDENG2bPxRfiCY"),
        ("token: 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("curl -H 'Authorization: Bearer 0a1b2c3d4e5f6a7b8c9d'", "0a1b2c3d4e5f6a7b8c9d"),
        (f"private_key: '{LETTERS[:20]}", f"'{LETTERS[:20]}"),
    ],
)
def test_what_is_named_like_a_secret_and_looks_made_is_one(text: str, secret: str) -> None:
    """The value alone is found, and hidden; the words around it stay."""
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == secret
    assert found.kind == (
        "a password" if "pass" in text.lower() or "://" in text else "a key or a token"
    )
    assert hide_secrets(text) == text.replace(secret, "***")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The token budget is 2000 tokens, and max_tokens=1200.",
        "Passwords are hashed with bcrypt12; the password is required.",
        "password: required",
        "password: string\ntoken: string",
        "password: see the vault of the team",
        "minimum_password_length: 1200000",
        'password = os.environ["DB_PASSWORD_2"]',
        "password=settings.database.password2",
        "token = read_token(path_of_2_files)",
        "API_KEY=${BILLING_KEY_2026_01}",
        "API_KEY=<your key of 32 characters>",
        "token: your-token-goes-here-0123456789",
        "the key is in the vault: api_key=xxxxxxxxxxxxxxxx00",
        "AKIAIOSFODNN7EXAMPLE",
        "secret: arn:aws:secretsmanager:us-west-2:123456789012:secret",
        "tokenizer = all-MiniLM-L6-v2-onnx-int8",
        "if password == other_password2: return",
        "the token was valid until 2026-01-02 and then expired",
        "Bearer authentication",
        "sk-learn-estimators-are-all-you-need",
        "see https://example.com:8080/a@b",
    ],
)
def test_talk_about_secrets_is_none(text: str) -> None:
    """Placeholders, programs, settings, types and plain sentences."""
    assert find_secrets(text) == []


def test_to_hide_is_more_eager_than_to_find() -> None:
    """All that is named like a secret goes, a plain word too."""
    assert hide_secrets("secret = apples, token=x") == "secret = ***, token=***"
    assert find_secrets("secret = apples, token=x") == []


def test_what_two_shapes_see_is_found_once() -> None:
    """A token behind its name is one secret, hidden whole; several are in the text's order."""
    token = "ghp_" + LETTERS[:36]
    text = f"password: hunter2\nGITHUB_TOKEN={token} and {token}"
    assert [(found.line, text[found.start : found.end]) for found in find_secrets(text)] == [
        (1, "hunter2"),
        (2, token),
        (2, token),
    ]
    assert hide_secrets(text) == "password: ***\nGITHUB_TOKEN=*** and ***"
    assert hide_secrets(hide_secrets(text)) == hide_secrets(text)
