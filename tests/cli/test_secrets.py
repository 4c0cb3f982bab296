"""Secrets of 72 kinds, planted in 24 places: none of them is in a file of contextkit's."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from contextkit import ContextKit
from contextkit.agent.answer import answer_event
from contextkit.agent.events import HookEvent
from contextkit.agent.notify import tell_plugins
from contextkit.agent.sessions import note
from contextkit.store.transfer import export_records, import_records
from contextkit_entities import EntityBook
from contextkit_events import EventLog
from contextkit_experiences import ExperienceBook
from contextkit_memories import MemoryBook, SecretInMemoryError
from contextkit_patterns import PatternBook
from contextkit_tasks import TaskStack
from tests.secret_kinds import KINDS, Planted, planted

if TYPE_CHECKING:
    from tests.cli.conftest import Repository

T = TypeVar("T")
ENOUGH = len(KINDS) * 48 // 51
SETTINGS = {
    "embedding.model": "none",
    "sources.entities.enabled": True,
    "assemble.source_timeout": 30.0,
    "assemble.deadline": 30.0,
}


def all_of(place: str) -> list[Planted]:
    """A secret of each kind."""
    return [planted(kind, place) for kind in KINDS]


def quoted(text: str) -> str:
    """A text as a string in a program."""
    return json.dumps(text)


def assigned(secret: Planted, form: str) -> str:
    """A line that assigns a secret to its name, or a command that has it."""
    return form.format(
        name=secret.name, value=quoted(secret.line if secret.is_command else secret.value)
    )


def lines(place: str, form: str) -> str:
    """A line for each secret."""
    return "\n".join(assigned(secret, form) for secret in all_of(place)) + "\n"


def told(place: str) -> str:
    """Each secret in a line of its own, as it usually stands."""
    return "\n\n".join(secret.line for secret in all_of(place)) + "\n"


def on_one_line(secret: Planted) -> str:
    """The same without line breaks."""
    return secret.line.replace("\n", "\\n")


FILES: dict[str, Callable[[str], str]] = {
    "a.py": lambda place: lines(place, "{name} = {value}"),
    "deploy/staging.cfg": lambda place: lines(place, "{name}={value}"),
    "config.yaml": lambda place: lines(place, "{name}: {value}"),
    "config.json": lambda place: "{\n" + lines(place, '  "{name}": {value},') + '  "n": 1\n}\n',
    "config.toml": lambda place: lines(place, "{name} = {value}"),
    "docs/prose.md": lambda place: f"# Deploying\n\n{told(place)}",
    "docs/fence.md": lambda place: f"# Deploying\n\n```sh\n{told(place)}```\n",
    "run.sh": lambda place: f"#!/bin/sh\n{lines(place, 'export {name}={value}')}",
    "Dockerfile": lambda place: f"FROM debian\n{lines(place, 'ENV {name}={value}')}",
}


def commit_all(repository: Repository) -> None:
    """Files of all kinds, a commit for each secret in a subject, one with all in its body."""
    repository.commit("Begin", {name: made(name) for name, made in FILES.items()})
    for secret in all_of("subject"):
        repository.git("commit", "-q", "--allow-empty", "-m", f"Use {on_one_line(secret)}")
    repository.git("commit", "-q", "--allow-empty", "-m", f"Deploy\n\n{told('body')}")


def fill(kit: ContextKit) -> None:
    """Plant in all that people and agents write."""
    memories, log = MemoryBook.of(kit), EventLog(kit.records("events"))
    for secret in all_of("memory of an agent"):
        try:
            memories.remember(secret.line, keep_secret=False)
        except SecretInMemoryError:
            continue
    properties = {s.name: on_one_line(s)[:500] for s in all_of("entity")}
    for some in batches(list(properties.items()), 20):
        EntityBook.of(kit).add(some[0][0], properties=dict(some))
    book = ExperienceBook(kit.records("experiences"))
    book.start(
        "Go", "It holds", told("experience"), "Well", domain="debugging", strategy="heuristic"
    )
    steps = [on_one_line(secret)[:2000] for secret in all_of("pattern")]
    for number, part in enumerate(batches(steps, 50)):
        PatternBook.of(kit).add(f"Deploy {number}", part)
    TaskStack.of(kit).push("Deploy", told("task"))
    for prompt in portions("event prompt"):
        tell(kit, "UserPromptSubmit", prompt=prompt)
    for command, output in zip(portions("event command"), portions("event output"), strict=False):
        given, answer = {"command": command}, {"stdout": output}
        tell(kit, "PostToolUse", tool_name="Bash", tool_input=given, tool_response=answer)
    for secret in all_of("journal"):
        note("hook_failed", reason=secret.line)
    log.add("turn", session="s", text="the end")


def batches(all_of_them: Sequence[T], most: int) -> list[Sequence[T]]:
    """At most so many at a time."""
    return [all_of_them[at : at + most] for at in range(0, len(all_of_them), most)]


def portions(place: str) -> list[str]:
    """Texts with all secrets of a place, none so long that it is cut."""
    found = [""]
    for secret in all_of(place):
        if len(found[-1]) + len(secret.line) > 1500:
            found.append("")
        found[-1] += f"{secret.line}\n\n"
    return found


def tell(kit: ContextKit, name: str, **event: object) -> None:
    """What an agent reports."""
    tell_plugins(kit, {"hook_event_name": name, "session_id": "s", "cwd": ".", **event})


def bring_in(kit: ContextKit) -> None:
    """Import memories and values, as another machine exported them."""
    now = datetime.now(UTC).isoformat()
    rows = [
        {"source": source, "project": kit.project, "id": f"{source}-{n}", "created_at": now}
        | {"text": secret.line, "keywords": "", "fields": {"category": "facts"}}
        for source in ("memories", "values")
        for n, secret in enumerate(all_of(f"import of {source}"))
    ]
    head = {"format": "contextkit-records", "version": 1}
    stream = [json.dumps(row) for row in (head, *rows)]
    import_records(kit.store, stream, lambda *_: None, kit.redactor.records)


def ask(kit: ContextKit) -> None:
    """Let a session's hook answer a prompt with secrets in it."""
    prompt = " ".join(on_one_line(secret) for secret in all_of("session"))
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": f"deploy {prompt}"}
    answer_event(kit, HookEvent.from_json(event), time.monotonic() + 60)


PLACES = (
    *FILES, "subject", "body", "memory of an agent", "import of memories", "import of values",
    "experience", "entity", "pattern", "task", "event prompt", "event command", "event output",
    "journal", "session",
)  # fmt: skip


def written(folder: Path) -> bytes:
    """The bytes of all files below a folder."""
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    # Most of what an engine reserves is empty.
    return b"\0".join(file.read_bytes().replace(bytes(512), b"") for file in files)


def left(place: str, stored: bytes) -> list[str]:
    """The kinds of which a place's secret is stored, whole or in part."""
    return [
        secret.kind
        for secret in all_of(place)
        if any(
            form.encode() in stored
            for part in secret.value.splitlines()
            if len(part) > 8 and "PRIVATE" not in part
            for form in (part, json.dumps(part)[1:-1])
        )
    ]


def test_no_secret_reaches_a_file(new_repository: Callable[..., Repository], home: Path) -> None:
    """Of each kind and from each place; what is said around them is stored."""
    repository = new_repository("demo")
    commit_all(repository)
    with ContextKit.open(repository.folder, settings=SETTINGS) as kit:
        outcomes = kit.index()
        fill(kit)
        bring_in(kit)
        ask(kit)
        with (home / "export.jsonl").open("w") as file:
            export_records(kit.store, file, lambda *_: None, kit.redactor.records)
    stored = written(home)
    assert stored.count(b"[secret: ") > len(KINDS) * len(PLACES) // 2
    kept = {place: left(place, stored) for place in PLACES}
    assert {place: kinds for place, kinds in kept.items() if len(KINDS) - len(kinds) < ENOUGH} == {}
    assert sum(map(len, kept.values())) <= len(PLACES), kept
    for source in ("code", "documents", "commits"):
        report = outcomes[source].report
        assert report is not None
        assert report.redacted > 0
