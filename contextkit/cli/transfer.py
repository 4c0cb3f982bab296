"""`contextkit export`, `contextkit import` and `contextkit reembed`."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import StoreError
from contextkit.files import open_private
from contextkit.text.words import counted

if TYPE_CHECKING:
    from contextkit.models.indexer import Progress
    from contextkit.models.record import Record
    from contextkit.store.reembed import Reembedded

_SHOWN_ERRORS = 5


@click.command(
    epilog="""\b
Examples:
  contextkit export records.jsonl
  contextkit export | gzip > records.jsonl.gz
"""
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="-")
@pass_session
def export(session: Session, file: Path) -> int:
    """Export all records as JSON lines.

    This writes the records of all projects to FILE, or to standard output without a FILE or with
    `-`. An existing FILE is replaced at the end. Only you can read the FILE. Damaged records are
    left out and named; the exit code is then 4. Other users' global records on a server, and those
    of other machines' folders, are left out, too.
    """
    from contextkit.store.transfer import export_records

    with session.progress() as report, _written(file) as stream:
        result = export_records(
            session.kit.store,
            stream,
            lambda done, total: report(_progress("export", done, total)),
            session.kit.redactor.records,
            session.kit.pipeline.ownership,
        )
    session.warn(f"{counted(result.written, 'record')} written")
    # The session reports at its end which ones.
    return ExitCode.STORE if result.damaged else ExitCode.FINE


@click.command(
    name="import",
    epilog="""\b
Examples:
  contextkit import records.jsonl
  contextkit export | CONTEXTKIT_HOME=/elsewhere contextkit import - --json
  contextkit import
  contextkit import claude-code --since 30d --dry-run
""",
)
@click.argument("what", metavar="[FILE|IMPORTER]", required=False)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the transcripts; default: the agent's own.",
)
@click.option(
    "--since", metavar="DATE", help="Only newer entries: since a date, or for 12h, 7d, 2w."
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and store nothing.")
@json_option
@click.pass_context
@pass_session
def import_(
    session: Session,
    context: click.Context,
    what: str | None,
    folder: Path | None,
    since: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Import records from JSON lines, or past sessions.

    FILE comes from `contextkit export`; `-` is standard input. Existing records are replaced. On a
    server, global records become yours, and those of a folder this installation's. A
    damaged line is refused and the others are stored; the exit code is then 1, as it is if the
    file ends too early.

    IMPORTER is an agent, such as claude-code or codex. Its past sessions in this project become
    events: prompts and answers up to 4,000 characters, commands with the first and last lines of
    their output, and the paths of the files that were written. Thinking, file contents and the work
    of subagents are left out, and secrets are replaced. 1,000 sessions of 200 turns take up some
    430 MB, until `contextkit events clear --imported`. Only what is new is read, so that the
    command can be repeated, and interrupted at any time. Without an argument, the importers are
    listed with the number of their sessions.
    """
    from contextkit.agent.imports import offered_importers
    from contextkit.cli.import_sessions import import_past_sessions, list_importers
    from contextkit.text.dates import parse_since

    importers = {} if what == "-" else offered_importers(session.registry)
    if what is None:
        list_importers(session, as_json)
    elif what in importers:
        start = None if since is None else parse_since(since, name="--since")
        import_past_sessions(session, importers[what], folder, start, dry_run, as_json)
    elif folder or since or dry_run:
        raise click.UsageError("--from, --since and --dry-run are for importers, not for a FILE.")
    elif what != "-" and not Path(what).exists():
        names = ", ".join(importers) or "none"
        raise click.UsageError(f"'{what}' is neither a file nor an importer. Importers: {names}.")
    else:
        file = click.File("r", encoding="utf-8", errors="surrogateescape")
        return _import_records(session, file.convert(what, None, context), as_json)
    return ExitCode.FINE


def _import_records(session: Session, file: Iterable[str], as_json: bool) -> int:
    from attrs import asdict

    from contextkit.store.projects import indexed_sources
    from contextkit.store.transfer import import_records

    redacted: list[int] = []
    ownership, indexed = session.kit.pipeline.ownership, indexed_sources(session.registry)
    redact = session.kit.redactor.telling(redacted.append).records
    with session.progress() as report:
        result = import_records(
            session.kit.store,
            file,
            lambda done, total: report(_progress("import", done, total)),
            lambda records: ownership.adopted(redact(records), indexed),
        )
    lines = [
        f"{counted(result.imported, 'record')} imported, {counted(result.failed, 'line')} refused"
    ]
    if result.missing:
        lines.append(
            f"  {counted(result.missing, 'record')} fewer than announced: is the file complete?"
        )
    if redacted:
        lines.append(f"  {counted(sum(redacted), 'secret')} replaced")
    lines += [f"  line {line}: {reason}" for line, reason in result.errors[:_SHOWN_ERRORS]]
    session.emit({**asdict(result), "redacted": sum(redacted)}, "\n".join(lines), as_json)
    return ExitCode.FAILED if result.failed or result.missing else ExitCode.FINE


@click.command(
    epilog="""\b
Examples:
  contextkit reembed
  CONTEXTKIT_EMBEDDING_MODEL=none contextkit reembed
"""
)
@json_option
@pass_session
def reembed(session: Session, as_json: bool) -> None:
    """Rewrite the store with the current embedding models.

    Run it after changing `embedding.model` or a source's `embedder`, and after records were
    stored while a model failed. It also removes secrets that older versions stored. The command
    can be interrupted and repeated. A server answers meanwhile: by keywords alone where the new
    model is configured. Other users of a server need the same setting afterwards.
    """
    redacted: list[int] = []
    with session.progress() as report:
        done = _reembedded(
            session,
            lambda done, total: report(_progress("reembed", done, total)),
            session.kit.redactor.telling(redacted.append).records,
        )
    text = "\n".join(
        [f"new vectors: {counted(done.records, 'record')}"]
        + [f"  {counted(sum(redacted), 'secret')} replaced"] * bool(redacted)
        + [f"  {source}: {model}" for source, model in sorted(done.models.items())]
    )
    models = ", ".join(sorted(set(done.models.values()) - {"none"})) or "none"
    data = {
        "records": done.records,
        "model": models,
        "models": done.models,
        "redacted": sum(redacted),
    }
    session.emit(data, text, as_json)


def _reembedded(
    session: Session,
    progress: Callable[[int, int | None], None],
    redact: Callable[[Sequence[Record]], Sequence[Record]],
) -> Reembedded:
    from contextkit.store.embedded import EmbeddedStore
    from contextkit.store.open import IndexedFields, open_store
    from contextkit.store.reembed import reembed as rebuild
    from contextkit.store.reused_vectors import AnyModels

    store = session.kit.store
    if isinstance(store, EmbeddedStore):
        return rebuild(store.path, store.embedders, progress, redact=redact)
    from contextkit.store.server import ServerStore
    from contextkit.store.server_reembed import reembed_server

    fields = IndexedFields(session.registry)
    other = open_store(session.config, AnyModels(store.embedders), fields)
    if not isinstance(other, ServerStore):
        raise StoreError("this store cannot be re-embedded")
    try:
        return reembed_server(other, store.embedders, progress, redact=redact)
    finally:
        other.close()


@contextlib.contextmanager
def _written(file: Path) -> Iterator[TextIO]:
    """Open standard output for `-`, or else a file.

    A file gets its name only after all of it is written.
    """
    if str(file) == "-":
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        yield sys.stdout
        sys.stdout.flush()
        return
    if file.exists() and not file.is_file():
        # A pipe or a device cannot be replaced.
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    # The target of a symbolic link is replaced, and the link stays.
    place = Path(os.path.realpath(file))
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        # A killed process may have had the same number, as is common in a container.
        unfinished.unlink(missing_ok=True)
        number = open_private(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        with open(number, "w", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 - a number
            yield stream
        if place.exists():
            # A file that its user protected from writing stays protected.
            unfinished.chmod(stat.S_IMODE(place.stat().st_mode) & 0o600)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)


def _progress(what: str, done: int, total: int | None) -> Progress:
    from contextkit.models.indexer import Progress

    return Progress(source=what, label="records", done=done, total=total)
