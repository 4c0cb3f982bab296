"""Bring the code records up to date with the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from contextkit import Indexer, IndexReport, Record
from contextkit.indexing import FileIndex, WorkspaceFile
from contextkit_code.record_kinds import INDEX_VERSION
from contextkit_code.workspace_files import NOTEBOOK, list_files

if TYPE_CHECKING:
    from contextkit_code.code_records import RecordMaker


_UNPARSED = "unparsed"
"""State key for the languages whose grammar failed to load."""


def index_code(indexer: Indexer) -> IndexReport:
    """Index the workspace's changes since the last run.

    Raises `ConfigError`, `WorkspaceError`, and what the store raises.
    """
    listing = list_files(indexer.workspace, indexer.settings, indexer.owned_elsewhere)
    parsing = _Parsing(FileIndex(indexer, version=INDEX_VERSION, unredacted=(NOTEBOOK,)))
    report = parsing.index.update(
        listing, parsing.records_of, again=parsing.now_parsed(listing.files)
    )
    return evolve(report, notes=[*report.notes, *parsing.notes()])


@define
class _Parsing:
    """Makes one run's records and collects languages without a grammar."""

    index: FileIndex
    _made_maker: RecordMaker | None = field(default=None, init=False)

    @property
    def _maker(self) -> RecordMaker:
        """Return the record maker.

        It is created when first needed, so that a run without changes imports no parser.
        """
        if self._made_maker is None:
            from contextkit_code.code_records import RecordMaker

            self._made_maker = RecordMaker(self.index.indexer.records.redacted)
        return self._made_maker

    def records_of(self, file: WorkspaceFile, content: bytes) -> list[Record]:
        """Return the records of one file."""
        try:
            return self._maker.records(file.path, content)
        finally:
            self.index.kept[_UNPARSED] = sorted(self._maker.grammars.problems)

    def now_parsed(self, files: Sequence[WorkspaceFile]) -> set[str]:
        """Return the files of languages that can now be parsed.

        In the last run their grammar failed to load.
        """
        unparsed = self.index.kept.get(_UNPARSED)
        if not (isinstance(unparsed, list) and unparsed):
            return set()
        from contextkit_code.text_files import parsed_language

        languages = {file.path: parsed_language(file.path, b"") for file in files}
        return {
            path
            for path, language in languages.items()
            if language is not None
            and language.name in unparsed
            and self._maker.grammars.get(language) is not None
        }

    def notes(self) -> list[str]:
        """Return the notes to report for this run."""
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
