"""The commands `contextkit remember` and `contextkit memories`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from contextkit.cli import Session, json_option, part_options, pass_session
from contextkit_memories import by_hand
from contextkit_memories.book import MemoryBook
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.memory import MAX_TEXT, Memory
from contextkit_memories.showing import (
    forgotten_lines,
    outcome_of,
    page_of,
    remembered_lines,
    rows_of,
    secret_warning,
)

# UTF-8 takes at most four bytes per character; one more byte shows that there is more to come.
_STDIN_BYTES = 4 * MAX_TEXT + 1


@click.command()
@click.argument("text")
@part_options(Memory, "category", "importance", "tags", "sequence", "valid_from", "replaces")
@click.option("--global", "shared", is_flag=True, help="For all your projects.")
@json_option
@pass_session
def remember(session: Session, /, text: str, shared: bool, as_json: bool, **given: Any) -> None:
    """Store TEXT as a memory.

    A TEXT of `-` is read from standard input. The same text is stored once; storing it again
    updates the options that you give. The nearest memories are listed: if the new one makes one of
    them untrue, store it again with `--replaces ID`. A key, a password or a token is stored with a
    warning.

    \b
    Example: contextkit remember "Tabs, never spaces" --category preference --tag style
    """
    book = MemoryBook.of(session.kit)
    given["tags"] = given["tags"] or None
    given["replaces"] = given["replaces"] or None
    memory = book.remember(_from_stdin() if text == "-" else text, **given, shared=shared)
    secrets, near = book.secrets_in(memory.text), book.near(memory)
    session.emit(
        outcome_of(memory, secrets, near), remembered_lines(memory, near, "--replaces ID"), as_json
    )
    if secrets:
        session.warn(secret_warning(memory, secrets, "contextkit memories forget"))


@click.group()
def memories() -> None:
    """List, search, edit and delete memories.

    \b
    Example: contextkit memories list --category decisions
    """


for command in (by_hand.search, by_hand.edit, by_hand.export, by_hand.import_):
    memories.add_command(command)


@memories.command("list")
@click.option("-c", "--category", help="Only this category, in singular or plural.")
@click.option("-t", "--tag", help="Only memories with this tag.")
@click.option("--all", "ended", is_flag=True, help="Also memories that are no longer true.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@json_option
@pass_session
def list_memories(session: Session, /, limit: int, as_json: bool, **wanted: Any) -> None:
    """List memories, newest first.

    \b
    Example: contextkit memories list --category decisions --limit 5
    """
    book = MemoryBook.of(session.kit)
    found = book.list(limit, **wanted)
    total = book.count(**wanted) if len(found) == limit else len(found)
    session.emit([memory.as_dict() for memory in found], _listing(found, total, wanted), as_json)


@memories.command()
@click.argument("memory_id", metavar="ID")
@click.option("--history", is_flag=True, help="Also what it replaced and what replaced it.")
@json_option
@pass_session
def show(session: Session, memory_id: str, history: bool, as_json: bool) -> None:
    """Show the memory with this ID, or its beginning.

    \b
    Example: contextkit memories show mem_1m80dw4m --history
    """
    book = MemoryBook.of(session.kit)
    if history:
        chain = book.history(memory_id)
        text = "\n\n".join(map(page_of, chain))
        session.emit([memory.as_dict() for memory in chain], text, as_json)
    else:
        memory = book.get(memory_id)
        session.emit(memory.as_dict(), page_of(memory), as_json)


@memories.command()
@click.argument("memory_id", metavar="ID")
@json_option
@pass_session
def end(session: Session, memory_id: str, as_json: bool) -> None:
    """End a memory that is no longer true.

    It is not deleted: `list --all` and questions about the past show it. To say what is true
    instead, use `contextkit remember TEXT --replaces ID`.

    \b
    Example: contextkit memories end mem_1m80dw4mayhc
    """
    memory = MemoryBook.of(session.kit).end(memory_id)
    session.emit(memory.as_dict(), f"Ended {memory.id}: {memory.title}", as_json)


@memories.command()
@json_option
@pass_session
def check(session: Session, as_json: bool) -> None:
    """Check what memories mention against the workspace.

    Files, names in code and commits that were there when a memory was written, and are gone. With
    git, it says since which commit, and what they may be called now. No memory is changed.

    \b
    Example: contextkit memories check
    """
    from contextkit_memories.checking import check as checked

    report = checked(MemoryBook.of(session.kit), session.kit.workspace.root)
    session.emit(report.as_dict(), report.text, as_json)


@memories.command()
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
@json_option
@pass_session
def forget(session: Session, memory_ids: tuple[str, ...], as_json: bool) -> None:
    """Delete memories.

    If one ID is wrong, none is deleted.

    \b
    Example: contextkit memories forget mem_1m80dw4mayhc
    """
    forgotten = MemoryBook.of(session.kit).forget(*memory_ids)
    data = [memory.as_dict() for memory in forgotten]
    session.emit(data, forgotten_lines(forgotten), as_json)


def _from_stdin() -> str:
    given = sys.stdin.buffer.read(_STDIN_BYTES)
    if len(given) == _STDIN_BYTES:
        raise InvalidMemoryError(
            f"standard input is longer than a memory's {MAX_TEXT:,} characters"
        )
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidMemoryError(
            f"standard input is not UTF-8: byte {error.start} does not belong there"
        ) from error


def _listing(found: list[Memory], total: int, wanted: Mapping[str, Any]) -> str:
    if not found and (wanted["category"] or wanted["tag"]):
        return "No memories match."
    if not found:
        return 'No memories. Add one: contextkit remember "…"'
    lines = rows_of(found)
    if total > len(found):
        lines.append(f"{len(found)} of {total} memories; --limit {total} lists them all")
    return "\n".join(lines)
