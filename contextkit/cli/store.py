"""`contextkit store`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
from attrs import frozen

from contextkit.cli.failures import ExitCode
from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from contextkit.config.sections import StoreSettings
    from contextkit.config.settings import Config
    from contextkit.models.record import Record
    from contextkit.store.base import PointStore, RecordStore
    from contextkit.store.migrate import Migrated
    from contextkit.store.reused_vectors import ReusingEmbedders

_HEADINGS = ["SOURCE", "PROJECT", "RECORDS", "COPIED", "STORED", "CHECKSUM"]


@click.group(epilog="Example: contextkit store migrate --to http://localhost:6333")
def store() -> None:
    """Move all records to another store.

    The embedded store is a folder on this machine. A Qdrant server holds the records of many
    machines and users.
    """


@store.command(
    epilog="""\b
Examples:
  contextkit store migrate --to http://localhost:6333 --dry-run
  contextkit store migrate --to http://localhost:6333
  contextkit store migrate --to https://qdrant.example.com --collection team
  contextkit store migrate --to ~/contextkit-store
"""
)
@click.option(
    "--to", "target", required=True, metavar="URL|FOLDER", help="A Qdrant server, or a folder."
)
@click.option("--collection", help="Collection on the server; default: store.collection.")
@click.option("--dry-run", is_flag=True, help="Compare the stores, and write nothing.")
@json_option
@pass_session
def migrate(
    session: Session, target: str, collection: str | None, dry_run: bool, as_json: bool
) -> int:
    """Copy all records to another store and verify them.

    The records come from the store that is configured: an embedded one or a server. They are
    copied with their vectors, or with new ones if another model is configured by now. Afterwards
    every record is read back and compared by its checksum. The old store is not changed, and the
    setting that chooses the new store is printed at the end.

    The command can be interrupted and repeated at any time, and goes on where it stopped. What
    other processes store during the move is copied too. Repeat the command after you changed the
    setting: it then copies what was stored in the embedded store in between. Records that were
    changed or deleted in the new store stay as they are there.
    """
    from attrs import asdict

    settings = _settings(session, target, collection)
    result = _migrate(session, settings, not dry_run)
    text = "\n".join(_lines(result, settings, dry_run))
    data = {
        "settled": result.settled,
        "removed": result.removed,
        "damaged": list(result.damaged),
        "scopes": [asdict(scope) for scope in result.scopes],
    }
    session.emit(data, text, as_json)
    if dry_run:
        return ExitCode.FINE
    if result.damaged or result.incomplete or not result.settled:
        return ExitCode.STORE
    return ExitCode.FINE


def _settings(session: Session, target: str, collection: str | None) -> StoreSettings:
    """The settings that choose the new store."""
    from pathlib import Path

    from attrs import evolve

    current = session.config.store
    if "://" in target:
        return evolve(current, url=target, path=None, collection=collection or current.collection)
    if collection is not None:
        raise click.UsageError("--collection is for a server, not for a folder.")
    return evolve(current, url=None, path=Path(target).expanduser().absolute())


def _migrate(session: Session, settings: StoreSettings, writes: bool) -> Migrated:
    from attrs import evolve

    from contextkit.embedding.choice import PluginEmbedders
    from contextkit.store.open import IndexedFields, open_store
    from contextkit.store.reused_vectors import AnyModels, ReusingEmbedders

    config, fields = session.config, IndexedFields(session.registry)
    target = evolve(config, store=settings)
    if again := settings.url is not None and settings == evolve(config.store, path=None):
        # The setting was changed after the move: the records come from the embedded store.
        config = evolve(config, store=evolve(config.store, url=None))
    configured = PluginEmbedders(config, session.registry)
    embedders = ReusingEmbedders(configured)
    old = open_store(config, AnyModels(configured), fields)
    new = open_store(target, embedders, fields)
    try:
        move = _Move(session, config, target, old, new, embedders)
        return move.run(writes=writes, again=again)
    finally:
        old.close()
        new.close()


@frozen
class _Move:
    """A move between two open stores.

    Attributes:
        session: the command's.
        before: the configuration of the old store.
        after: the configuration of the new store.
        old: the old store.
        new: the new store.
        embedders: those of the new store.
    """

    session: Session
    before: Config
    after: Config
    old: PointStore
    new: RecordStore
    embedders: ReusingEmbedders

    def run(self, *, writes: bool, again: bool) -> Migrated:
        """Copy and verify, or compare only."""
        from contextkit.errors import StoreError
        from contextkit.indexing.run import carry_states
        from contextkit.models.indexer import Progress
        from contextkit.store.migrate import Migration
        from contextkit.store.open import is_made, place_of
        from contextkit.store.ownership import Ownership
        from contextkit.store.projects import indexed_sources

        if not is_made(self.old):
            raise StoreError(f"there is no store at {place_of(self.old)}: there is nothing to move")
        before, after = Ownership.of(self.before), Ownership.of(self.after)
        indexed = indexed_sources(self.session.registry)

        def renamed(records: Sequence[Record]) -> list[Record]:
            return after.adopted(records, indexed)

        with self.session.progress() as report:
            return Migration(
                self.old,
                self.new if writes or is_made(self.new) else None,
                self.embedders,
                # What other users of a server own stays there.
                lambda project: after.is_shared or before.is_visible(project),
                renamed,
                self.session.kit.redactor.records,
                lambda what, done, total: report(
                    Progress(source=what, label="records", done=done, total=total)
                ),
                lambda scopes: carry_states(self.old, self.new, scopes, renamed),
                writes,
                again,
            ).run()


def _lines(result: Migrated, settings: StoreSettings, dry_run: bool) -> Iterator[str]:
    from contextkit.config.load import user_config_file
    from contextkit.config.write import to_toml

    rows = [
        [
            s.source,
            s.target,
            f"{s.records:,}",
            f"{s.copied:,}",
            f"{s.stored:,}",
            f"{s.checksum:08x}",
        ]
        for s in result.scopes
    ]
    yield table(_HEADINGS, rows)
    records, copied = (sum(getattr(s, n) for s in result.scopes) for n in ("records", "copied"))
    if dry_run:
        yield f"\n{copied:,} of {records:,} records would be copied"
        return
    yield f"\n{records:,} records, {copied:,} of them copied now"
    for each in result.incomplete:
        yield f"  {each.source} in '{each.target}': the new store has {each.stored:,} records only"
    if other := sum(scope.other for scope in result.scopes):
        yield f"  {other:,} records were changed or deleted in the new store, and stay so"
    if more := sum(max(0, scope.stored - scope.records) for scope in result.scopes):
        yield f"  {more:,} more records of these projects are in the new store only"
    if result.removed:
        yield f"  {result.removed:,} records were deleted during the move, also in the new store"
    if result.damaged:
        yield f"  {len(result.damaged):,} damaged records were not copied: {result.damaged[0]}, …"
    if not result.settled:
        yield "  other processes keep writing: run the command again"
        return
    yield "verified: the new store has every record, with the same checksum"
    yield f"To use it, write into {user_config_file()}:\n\n[store]"
    if settings.url is None:
        yield f"path = {to_toml(settings.path)}"
    else:
        yield f"url = {to_toml(settings.url)}\ncollection = {to_toml(settings.collection)}\n"
        yield "Then repeat this command once, for what was stored in between."
