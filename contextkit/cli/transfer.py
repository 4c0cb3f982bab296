"""`contextkit export`, `contextkit import` and `contextkit reembed`."""

from __future__ import annotations

from typing import TextIO

import click

from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import StoreError
from contextkit.indexing import Progress

__all__ = ["export", "import_", "reembed"]

_SHOWN_ERRORS = 5


@click.command()
@click.argument("file", type=click.File("w", encoding="utf-8", lazy=True), default="-")
@pass_session
def export(session: Session, file: TextIO) -> None:
    """Write every record of the store, of all projects, to FILE as JSON lines.

    \b
    Example: contextkit export records.jsonl
    """
    from contextkit.store.transfer import export_records

    store = session.kit.store
    with session.progress() as report:
        written = export_records(
            store, file, lambda done, total: report(_progress("export", done, total))
        )
    click.echo(f"contextkit: {written} records written", err=True)


@click.command(name="import")
@click.argument("file", type=click.File("r", encoding="utf-8", errors="surrogateescape"))
@json_option
@pass_session
def import_(session: Session, file: TextIO, as_json: bool) -> int:
    """Store the records of FILE, which `contextkit export` wrote; `-` is standard input.

    Records that are there already are replaced; a bad line costs only itself.

    \b
    Example: contextkit import records.jsonl
    """
    from attrs import asdict

    from contextkit.store.transfer import import_records

    with session.progress() as report:
        result = import_records(
            session.kit.store,
            file,
            session.kit.wants_dense,
            lambda done, total: report(_progress("import", done, total)),
        )
    lines = [f"{result.imported} records imported, {result.failed} lines refused"]
    lines += [f"  line {line}: {reason}" for line, reason in result.errors[:_SHOWN_ERRORS]]
    session.emit(asdict(result), "\n".join(lines), as_json)
    return 1 if result.failed else 0


@click.command()
@pass_session
def reembed(session: Session) -> None:
    """Make every record's vectors anew with the configured embedding model.

    \b
    Example: contextkit reembed
    """
    from contextkit.store.embedded import EmbeddedStore
    from contextkit.store.reembed import reembed as rebuild

    store = session.kit.store
    if not isinstance(store, EmbeddedStore):
        raise StoreError("only an embedded store can be re-embedded: export it and import it")
    with session.progress() as report:
        done = rebuild(
            store.path,
            store.embedder,
            session.kit.wants_dense,
            lambda done, total: report(_progress("reembed", done, total)),
        )
    click.echo(f"{done} records have vectors of '{store.embedder.name}' now")


def _progress(what: str, done: int, total: int | None) -> Progress:
    return Progress(source=what, label="records", done=done, total=total)
