"""Bringing the records up to date with the workspace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from attrs import define, field

from contextkit import IndexReport
from contextkit.indexing import Indexer
from contextkit.logs import get_logger
from contextkit_code.index_state import CodeState, FileState
from contextkit_code.record_writer import RecordWriter
from contextkit_code.settings import Settings
from contextkit_code.workspace_files import WorkspaceFile, list_files, read_file

if TYPE_CHECKING:
    from contextkit_code.code_records import RecordMaker

__all__ = ["index_code"]

_log = get_logger(__name__)


def index_code(indexer: Indexer) -> IndexReport:
    """Index what changed in the workspace since the last run.

    A file is looked into when its size or its times are not those of the last run, and
    parsed when its content is another.

    Raises `ConfigError`, `WorkspaceError`, and what the store raises.
    """
    settings = Settings.of(indexer.settings)
    listing = list_files(indexer.workspace, settings)
    state = CodeState.load(indexer.state)
    run = _Run(indexer, settings, state)
    run.bring_up_to_date(listing.files)
    skipped = sorted([*listing.skipped, *run.skipped])
    return IndexReport(
        added=run.added,
        updated=run.updated,
        removed=run.removed,
        unchanged=run.unchanged,
        skipped=skipped,
        notes=[*listing.notes, *run.notes()],
    )


@define
class _Run:
    indexer: Indexer
    settings: Settings
    state: CodeState
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(factory=list)
    _created_at: datetime = field(init=False)
    _made_maker: RecordMaker | None = field(default=None, init=False)
    _writer: RecordWriter = field(init=False)
    _gone: set[str] = field(factory=set, init=False)
    _done: int = field(default=0, init=False)

    def bring_up_to_date(self, files: Sequence[WorkspaceFile]) -> None:
        """Index what is new or changed, delete the records of what is gone."""
        started = time.perf_counter()
        self._created_at = self.state.next_run()
        reparsed = self._now_parsed(files)
        candidates = [
            file
            for file in files
            if (known := self.state.files.get(file.path)) is None
            or known.stamp != file.stamp
            or file.path in reparsed
        ]
        self._gone = self.state.files.keys() - {file.path for file in files}
        self._writer = RecordWriter(
            self.indexer, self.state, {file.path for file in candidates} | self._gone
        )
        if not self.state.known:
            self._writer.start_anew()
        elif not candidates and not self._gone:
            self._count_unchanged(files)
            self._progress(len(files), len(files))
            return
        self.state.created_at = self._created_at
        looked_into = {file.path for file in candidates}
        self._count_unchanged([file for file in files if file.path not in looked_into])
        self._progress(len(files) - len(candidates), len(files))
        for file in candidates:
            self._look_into(file, parse=file.path in reparsed)
            self._progress(1, len(files))
        self._finish(time.perf_counter() - started)

    @property
    def _maker(self) -> RecordMaker:
        """What makes records; where nothing has changed, nothing that parses is imported."""
        if self._made_maker is None:
            from contextkit_code.code_records import RecordMaker

            self._made_maker = RecordMaker(self._created_at)
        return self._made_maker

    def _finish(self, seconds: float) -> None:
        self._writer.flush()
        self.removed += sum(not self.state.files[path].skipped for path in self._gone)
        self._writer.remove(self._gone)
        if self._made_maker is not None:
            self.state.unparsed = frozenset(self._made_maker.grammars.problems)
        self._writer.save()
        _log.info(
            "code_indexed",
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            unchanged=self.unchanged,
            skipped=len(self.skipped),
            seconds=round(seconds, 3),
        )

    def notes(self) -> list[str]:
        """What a person should know of this run."""
        maker = self._made_maker
        if maker is None:
            return []
        unparsed = [
            f"{language}: its grammar does not load ({problem}); its files are indexed by lines"
            for language, problem in sorted(maker.grammars.problems.items())
        ]
        given_up = [
            f"{path}: it took too long to parse; it is indexed by lines" for path in maker.given_up
        ]
        return unparsed + given_up

    def _now_parsed(self, files: Sequence[WorkspaceFile]) -> set[str]:
        """The files whose language could not be parsed in the last run, and now can."""
        if not self.state.unparsed:
            return set()
        from contextkit_code.text_files import parsed_language

        languages = {file.path: parsed_language(file.path, b"") for file in files}
        return {
            path
            for path, language in languages.items()
            if language is not None
            and language.name in self.state.unparsed
            and self._maker.grammars.get(language) is not None
        }

    def _count_unchanged(self, files: Sequence[WorkspaceFile]) -> None:
        for file in files:
            self._count_same(file.path, self.state.files[file.path])

    def _count_same(self, path: str, known: FileState) -> None:
        if known.skipped:
            self.skipped.append((path, known.skipped))
        else:
            self.unchanged += 1

    def _progress(self, files: int, total: int) -> None:
        self._done += files
        self.indexer.progress(self._done, total, "files")

    def _look_into(self, file: WorkspaceFile, *, parse: bool) -> None:
        """Read a file, and index it where its content is not what it was."""
        import hashlib

        known = self.state.files.get(file.path)
        read_at = time.time_ns()
        try:
            content, stamp = read_file(file, self.settings.max_file_bytes)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self.skipped.append((file.path, f"it cannot be read: {error.strerror or error}"))
            if known is not None:
                self._gone.add(file.path)
            return
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        if known is not None and known.digest == digest and not parse:
            self._count_same(file.path, known)
            self._writer.confirm(
                file.path, FileState.read(stamp, digest, known.skipped, at=read_at)
            )
            return
        from contextkit_code.text_files import NotTextError

        try:
            records, skipped = self._maker.records(file.path, content), ""
        except NotTextError as error:
            records, skipped = [], str(error)
        self._count_changed(file.path, known, skipped)
        self._writer.replace(file.path, records, FileState.read(stamp, digest, skipped, at=read_at))

    def _count_changed(self, path: str, known: FileState | None, skipped: str) -> None:
        had_records = known is not None and not known.skipped
        if skipped:
            self.skipped.append((path, skipped))
            self.removed += had_records
        elif had_records:
            self.updated += 1
        else:
            self.added += 1
