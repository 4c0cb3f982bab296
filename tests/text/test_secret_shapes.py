"""What looks like a secret is found where it is one, and nowhere else."""

from __future__ import annotations

import base64
from random import Random

import pytest
from hypothesis import given, strategies as st

from contextkit.text.secrets import MARK, find_secrets, hide_secrets, replaced
from tests.growing import assert_linear
from tests.secret_kinds import KINDS, planted

LETTERS = "a1B2c3D4" * 8
# Put together here, so that this file has as few of them as any other.
PASSWORD = "hunter" + "2"
WORD = "sword" + "fish"
PHRASE = "correct " + "horse"
UUID = "550e8400-e29b-41d4-a716-" + "446655440000"
KEY = "7a1B2c3D4e5F6g7H8i9J0kL" + "mNoPqRsT"
TOKEN = "ghp_" + "q7R8" * 9


def redacted(text: str) -> str:
    """The text as it is stored."""
    return replaced(text, find_secrets(text))


@pytest.mark.parametrize("kind", KINDS)
def test_secrets_of_many_kinds_are_found(kind: str) -> None:
    """Of 72 kinds none is left in the line in which it usually stands."""
    secret = planted(kind, "line")
    text = redacted(f"first\n{secret.line}\nlast")
    assert not [part for part in secret.value.splitlines() if part in text]
    assert MARK in text
    assert text.startswith("first\n")
    assert text.endswith("\nlast")
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("GitHub personal token", "GitHub token"),
        ("AWS access key id", "AWS access key"),
        ("Slack webhook", "Slack webhook"),
        ("Anthropic key", "Anthropic key"),
        ("OpenSSH private key", "private key"),
        ("mysql -p", "password"),
        ("Twilio auth token", "key or token"),
        ("random string", "random string"),
    ],
)
def test_a_mark_says_what_was_there(kind: str, named: str) -> None:
    """Kind and place are told, without the secret."""
    line = planted(kind, "mark").line
    (found,) = find_secrets(f"First line.\n{line}")
    assert found.kind == named
    assert f"[secret: {named}]" in redacted(line)
    assert f" {named} (line 2, from character " in found.located(f"First line.\n{line}")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"password: {PASSWORD}", PASSWORD),
        (f"The password is {PASSWORD}.", f"{PASSWORD}."),
        (f"the passphrase for the staging database was: {PASSWORD}", PASSWORD),
        ("Password: swordfish\nfor the test system", "swordfish"),
        (f'log in with {{"password": "{PHRASE}", "user": "a"}}', PHRASE),
        (f"use `DB_PASSWORD={PASSWORD}`", PASSWORD),
        (f"mysql --password {PASSWORD} db", PASSWORD),
        (f"git clone https://me:{PASSWORD}@host/x", PASSWORD),
        (f"ENV DB_PASSWORD {PASSWORD}", PASSWORD),
        # A command takes any word as a password.
        (f"curl -u admin:{WORD} https://x", WORD),
        (f"mysql -u root -p{WORD} db", WORD),
        (f"sshpass -p {WORD} ssh host", WORD),
        ("DB_PASSWORD=Passw" + "0rd!", "Passw0rd!"),
        (f"password: str = '{PASSWORD}'", PASSWORD),
        (f"<password>{PASSWORD}</password>", PASSWORD),
        (f'{{\\"password\\": \\"{PASSWORD}\\"}}', PASSWORD),
        (f"API_KEY={KEY}", KEY),
        (f"api_key => '{KEY}'", KEY),
        (f"the API key of the billing service is {KEY}", KEY),
        (f"AWS_SECRET_ACCESS_KEY=/x/{KEY}", f"/x/{KEY}"),
        (f"token: {UUID}", UUID),
        ("curl -H 'Authorization: Bearer 0a1b2c3d4e5f" + "6a7b8c9d'", "0a1b2c3d4e5f6a7b8c9d"),
        (f"private_key: '{KEY[:20]}", KEY[:20]),
        (f"İ password: {PASSWORD}", PASSWORD),
    ],
)
def test_what_is_named_like_a_secret_and_looks_made_is_one(text: str, secret: str) -> None:
    """The value alone is found and replaced; the words and the quotes around it stay."""
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == secret
    assert found.kind in {"password", "key or token"}
    assert hide_secrets(text) == redacted(text) == text.replace(secret, f"{MARK}{found.kind}]")


NAMED = [
    # A field for the name, another for the value.
    "- name: DB_PASSWORD\n  value: §",
    '{"name":"DB_PASSWORD","value":"§"}',
    '{\\"name\\": \\"API_KEY\\", \\"value\\": \\"§\\"}',
    '<add key="ApiKey" value="§"/>',
    # Short names.
    *(
        "DB_PASS=§",
        "export DB_PASS=§",
        'db_pass = "§"',
        "MYSQL_PASS: §",
        '{"pass": "§"}',
        "dbPass='§'",
    ),
    # Prefixes and types of strings.
    *('secret = b"§"', 'token = f"§"', 'api_key = u"§"', 'password: bytes = b"§"'),
    *(
        'let api_key: &str = "§";',
        'const API_KEY: &\'static str = "§";',
        'var password string = "§"',
    ),
    # Defaults and arguments.
    *('os.getenv("API_TOKEN", "§")', 'os.environ.get("DB_PASSWORD", "§")'),
    *('config("SECRET_KEY", default="§")', "define('DB_PASSWORD', '§')", '.put("password", "§")'),
    *('process.env.API_TOKEN || "§"', 'os.environ.get("DB_PASSWORD") or "§"', 'setPassword("§")'),
    # Markup, addresses and headers.
    *("password: |\n  §", "**Password:** §", "| password | § |"),
    *("https://x.blob.core.windows.net/a?sv=1&sig=§xy%3D", "Cookie: theme=dark; session=§"),
]


@pytest.mark.parametrize("form", NAMED)
def test_a_named_secret_is_found_in_each_common_form(form: str) -> None:
    """What languages, settings and documents put between the name and the value."""
    text = form.replace("§", KEY)
    (found,) = find_secrets(text)
    assert text[found.start : found.end].startswith(KEY)


@pytest.mark.parametrize(
    "value", ["changeme", "${VAR_2}", "<token>", "xxxxxxxxxxxxxxxx12", "%s", ""]
)
@pytest.mark.parametrize("form", NAMED)
def test_a_placeholder_is_no_secret_in_any_form(form: str, value: str) -> None:
    """It stands where the secret would."""
    assert find_secrets(form.replace("§", value)) == []


@pytest.mark.parametrize("form", ['"auth": "§"', "//registry.npmjs.org/:_auth=§"])
def test_a_user_and_a_password_in_base64_are_a_secret(form: str) -> None:
    """As Docker and npm keep them."""
    text = form.replace("§", base64.b64encode(f"tide:{PASSWORD}".encode()).decode())
    assert redacted(text) == form.replace("§", f"{MARK}key or token]")
    assert find_secrets(form.replace("§", "middleware1")) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "compass = 'north2east3'",
        "bypass: 'cache2'",
        "pass  # hunter2",
        "PASS: test_login2",
        '"netrc_user:netrc_pass" is "bmV0cmNfdXNlcjpuZXRyY19wYXNz"',
        "db_pass = os.environ['DB_PASS_2']",
        "db_pass = get_pass(user2)",
        "first_pass = 'lexer and parser'",
        'token = f"user {name2} of {group2}"',
        'tokens = r"H{1,2}|h{1,2}|m{1,2}"',
        'os.getenv("API_TOKEN", default_token_2)',
        'os.environ.get("DB_PASSWORD", "")',
        '{"name": "password", "value": true}',
        "- name: DB_PASSWORD\n  valueFrom: secret2",
        "def load() -> Ed448PrivateKey | X25519PrivateKey | X448PrivateKey: ...",
        "| password | string |",
        "setPassword(newPassword2)",
        "password: |\n  Choose one of 12 characters.",
        "const session = cookie.session2",
        "The token budget is 2000 tokens, and max_tokens=1200.",
        "Passwords are hashed with bcrypt12; the password is required.",
        "password: required",
        "password: string\ntoken: string",
        "password: see the vault of the team",
        "minimum_password_length: 1200000",
        'password = os.environ["DB_PASSWORD_2"]',
        "password=settings.database.password2",
        "auth = login(user='u', password='swordfish')",
        "curl -u user:pass https://x",
        "mysql -u root -p db",
        "client.login(password='password123')",
        "token = read_token(path_of_2_files)",
        "API_KEY=${BILLING_KEY_2026_01}",
        "API_KEY=<your key of 32 characters>",
        "token: your-token-goes-here-0123456789",
        "the key is in the vault: api_key=xxxxxxxxxxxxxxxx00",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "secret: arn:aws:secretsmanager:us-west-2:123456789012:secret",
        "tokenizer = all-MiniLM-L6-v2-onnx-int8",
        "if password == other_password2: return",
        "the token was valid until 2026-01-02 and then expired",
        "Bearer authentication",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "sk-learn-estimators-are-all-you-need",
        "see https://example.com:8080/a@b",
        "https://user:password@example.org",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "private_key = /etc/ssl/private/server2.key",
        "sha512-lNtG1XMx7hBVpnl2LxS5gQvbdmUoC0MpiUyPQXYAG34uKqRzTfV8Wd9EjYaIsBcOe==",
        "commit 192b9bdd22ab9ed4d12e236c78afcb9a393ec15f",
        "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBkb2c",
    ],
)
def test_talk_about_secrets_is_none(text: str) -> None:
    """Placeholders, programs, settings, types, digests, dummies and plain sentences."""
    assert find_secrets(text) == []


BODY = "\n".join(f"{LETTERS[n:]}{LETTERS[:n]}" for n in range(6))
BEGIN, END = (f"-----{part} RSA PRIVATE KEY-----" for part in ("BEGIN", "END"))
SSH2_BEGIN, SSH2_END = (f"---- {part} SSH2 ENCRYPTED PRIVATE KEY ----" for part in ("BEGIN", "END"))
HEADERS = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF"
NO_BREAK = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"before\n{BEGIN}\n{BODY}\n{END}\nafter", "before\n[secret: private key]\nafter"),
        (f"{BEGIN}\n{BODY}", "[secret: private key]"),
        (f"…\n{BODY}\n{END}\nafter", "…\n[secret: private key]\nafter"),
        (
            f'{{"private_key": "{BEGIN}\\n{BODY}\\n{END}\\n"}}'.replace("\n", "\\n"),
            '{"private_key": "[secret: private key]\\n"}',
        ),
        (f"{BEGIN}\n{HEADERS}\n\n{BODY}\n{END}\nafter", "[secret: private key]\nafter"),
        (f"{BEGIN}\n{HEADERS}\n\n{BODY}", "[secret: private key]"),
        (
            f'key = "{BEGIN}\n{HEADERS}\n\n{BODY}\n{END}"'.replace("\n", "\\n"),
            'key = "[secret: private key]"',
        ),
        (f"{BEGIN.replace(' ', NO_BREAK)}\n{BODY}\n{END}\nafter", "[secret: private key]\nafter"),
        (f"{SSH2_BEGIN}\nComment: a\n{BODY}\n{SSH2_END}\nafter", "[secret: private key]\nafter"),
        (
            f"Public-Lines: 1\nAAAA\nPrivate-Lines: 6\n{BODY}\nPrivate-MAC: 0a1b\nafter",
            "Public-Lines: 1\nAAAA\n[secret: private key]\nafter",
        ),
        (f"Private-Lines: 6\n{BODY}", "[secret: private key]"),
        (f"{BEGIN}\n{BODY}\n\nThat was it, and the text goes on.", None),
    ],
)
def test_a_private_key_is_found_whole_or_in_part(text: str, kept: str | None) -> None:
    """Where a text was cut, half a key goes; the prose behind it stays."""
    result = redacted(text)
    assert LETTERS not in result
    assert kept is None or result == kept
    assert kept is not None or result.endswith("\n\nThat was it, and the text goes on.")


def test_lines_keep_their_numbers() -> None:
    """A replaced key leaves its line breaks, where that is asked for."""
    text = f"one\n{BEGIN}\n{BODY}\n{END}\nlast"
    kept = replaced(text, find_secrets(text), keep_lines=True)
    assert kept.count("\n") == text.count("\n")
    assert kept.splitlines()[-1] == "last"


def test_to_hide_is_more_eager_than_to_find() -> None:
    """All that is named like a secret goes, a plain word too."""
    kept = "secret = [secret: key or token], token=[secret: key or token]"
    assert hide_secrets("secret = apples, token=x") == kept
    assert hide_secrets("app.keys = ['apples']") == f"app.keys = ['{MARK}key or token]']"
    assert hide_secrets(kept) == kept
    assert find_secrets("secret = apples, token=x") == []


def test_what_two_shapes_see_is_found_once() -> None:
    """A token behind its name is one secret; several are in the text's order."""
    text = f"password: {PASSWORD}\nGITHUB_TOKEN={TOKEN} and {TOKEN}"
    assert [(found.kind, text[found.start : found.end]) for found in find_secrets(text)] == [
        ("password", PASSWORD),
        ("GitHub token", TOKEN),
        ("GitHub token", TOKEN),
    ]
    mark = "[secret: GitHub token]"
    assert hide_secrets(text) == f"password: [secret: password]\nGITHUB_TOKEN={mark} and {mark}"


@given(st.lists(st.sampled_from(KINDS), max_size=4), st.text(alphabet=" \n\"'=:ab[]", max_size=8))
def test_a_redacted_text_has_nothing_more_to_redact(kinds: list[str], between: str) -> None:
    """Redaction is idempotent, whatever stands between the secrets."""
    text = between.join(planted(kind, "again").line for kind in kinds)
    for hide in (redacted, hide_secrets):
        once = hide(text)
        assert hide(once) == once


SEEDS = [
    "\n", " ", "a", "A1b", "-----BEGIN ", f"{BEGIN}\n", f"{BEGIN}\n{BODY}\n", f"{END}\n", END,
    "eyJ", "-eyJ", "eyJa.", "password=", "password='", 'password="x ', "token is ", "secret a b ",
    "://a:", "://", "curl -u ", "mysql -", "Bearer ", "authorization: ", "login a password ",
    "SG.", "SG." + "a" * 20, "key-", "secret", "token", "key", "[secret: ", "[secret: a]", "sk-",
    "---- BEGIN ", "-", "Private-Lines: 1\n", "Private-Lines: 1\nComment: ",
    f"{BEGIN}\nComment: ", "A" * 64 + "\n", f"{TOKEN} ",
    "pass", "pass=", "_pass='", "token, value=", 'getenv("token", ', "| token | ", "cookie: sess",
    "cookie: a=b;", "sig=", "auth=", "set_token(", "token or ",
    f"password: {PASSWORD} ", ":AA", "@", "'", "\\", "\u0130",
]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_the_time_grows_with_the_length(seed: str) -> None:
    """What provokes a pattern takes time in proportion to its length."""
    assert_linear(find_secrets, lambda size: (seed * (size // len(seed) + 1))[:size], 240_000)


def test_many_random_strings_are_found_in_linear_time() -> None:
    """Each of them differs from all others; of few characters, as such are the slowest to find."""

    def make(size: int) -> str:
        chance = Random(size)
        return " of ".join("".join(chance.choices("aB3", k=40)) for _ in range(size // 44))

    assert len(find_secrets(make(4_400))) > 50
    assert_linear(find_secrets, make, 2_000_000)
