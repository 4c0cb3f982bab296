"""What is never stored: secrets of the usual shapes, environments, length."""

from __future__ import annotations

import pytest

from contextkit_events import EventLog
from contextkit_events.guarding import LONGEST, guarded

TOKEN = "ghp_" + "a1B2" * 6
PASSWORD = "hunter" + "2"
KEPT = "[secret: password]"
BEGIN, END = (f"-----{part} RSA PRIVATE KEY-----" for part in ("BEGIN", "END"))
LINE = "Ab1+" * 16


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("export API_KEY=abc123 && run", "export API_KEY=[secret: key or token] && run"),
        (f'{{"password": "{PASSWORD} x", "a": 1}}', f'{{"password": "{KEPT}", "a": 1}}'),
        (
            "curl -H 'Authorization: Bearer abcdef123456'",
            "curl -H 'Authorization: Bearer [secret: key or token]'",
        ),
        (f"mysql --password {PASSWORD} db", f"mysql --password {KEPT} db"),
        (f"mysql --password={PASSWORD} db", f"mysql --password={KEPT} db"),
        (f"git clone https://me:{PASSWORD}@host/x", f"git clone https://me:{KEPT}@host/x"),
        (f"echo {TOKEN}", "echo [secret: GitHub token]"),
        ("AKIA" + "QRSTUVWXYZ234567", "[secret: AWS access key]"),
        (f"{BEGIN}\n{LINE}\n{LINE}\n{END}\nok", "[secret: private key]\nok"),
        (f"{BEGIN}\n{LINE}\n{LINE}", "[secret: private key]"),
        ("how many tokens has it?", "how many tokens has it?"),
        ("fit(max_tokens=1200)", "fit(max_tokens=1200)"),
        ("--max-tokens 1200", "--max-tokens 1200"),
        ("REFRESH_TOKENS=abc", "REFRESH_TOKENS=[secret: key or token]"),
        ("\x1b[31mred\x1b[0m\x07\r\nline", "red\nline"),
    ],
)
def test_secrets_of_the_usual_shapes_are_hidden(text: str, kept: str) -> None:
    """What says that it is a secret is not stored; the words around it are."""
    assert guarded(text, "command") == kept
    assert guarded(guarded(text, "command"), "command") == kept


@pytest.mark.parametrize("part", ["output", "text"])
def test_an_environment_is_left_out(part: str) -> None:
    """Five lines or more of NAME=value are the dump of one."""
    dump = "\n".join(f"NAME_{n}=value {n}" for n in range(6))
    assert guarded(f"before\n{dump}\nafter", part) == "before\n[environment left out]\nafter"
    few = "\n".join(f"NAME_{n}=value {n}" for n in range(4))
    assert guarded(few, part) == few


@pytest.mark.parametrize("part", list(LONGEST))
def test_long_texts_are_cut(part: str) -> None:
    """No part is stored at full length, whatever it is."""
    kept = guarded(f"begins {'long ' * 100_000} ends", part)
    assert len(kept) <= LONGEST[part]
    assert "…" in kept
    assert kept.endswith("ends") == (part == "output")


def test_half_a_secret_at_a_cut_stays_hidden() -> None:
    """Secrets are hidden before a text is cut."""
    kept = guarded(f"{'x' * 1990} {TOKEN}", "command")
    assert "ghp_" not in kept


@pytest.mark.parametrize(
    "text", ["a." * 200_000, "a" * 400_000, "token" * 80_000, "a=b\n" * 90_000]
)
def test_no_text_takes_long(text: str) -> None:
    """What looks like a secret over and over is cut before it is searched."""
    assert len(guarded(text, "output")) <= LONGEST["output"]


def test_the_store_never_sees_them(log: EventLog) -> None:
    """Every part of an event goes through it, and so does what is searched."""
    log.add(
        "shell_exec",
        session="a",
        command=f"push {TOKEN}",
        output=f"used {TOKEN}",
        path="a",
        text=TOKEN,
    )
    stored = log.records.newest(5)
    assert all(TOKEN not in f"{record.text}{record.keywords}{record.fields}" for record in stored)
