"""Make the records of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from attrs import define, evolve, field

from contextkit import Record
from contextkit.logs import get_logger
from contextkit_code.chunks import Chunk, chunk_file, chunk_notebook
from contextkit_code.components import COMPONENTS, script_of
from contextkit_code.definitions import Definition, find_definitions
from contextkit_code.grammars import Grammars, ParseTooLongError
from contextkit_code.imports import Import, find_imports
from contextkit_code.languages.language import Language
from contextkit_code.notebooks import read_notebook
from contextkit_code.plain_definitions import plain_definitions, plain_names
from contextkit_code.record_kinds import CELL, OUTLINE, UNIT, WINDOW_TYPES
from contextkit_code.text_files import (
    decode,
    is_table,
    language_named,
    parsed_language,
    text_language,
)
from contextkit_code.workspace_files import NOTEBOOK

_log = get_logger(__name__)

# A unit's name says more than any word in its text. Counting it three times ranks the right file
# clearly higher. The parts of identifiers are not repeated here: the store's tokenizer already adds
# them to the text, and adding them twice ranks worse than once.
_NAME_WEIGHT = 3
_BEFORE_A_DIGIT = re.compile(r"([A-Za-z]++)(\d?)")
_MAX_CHARACTERS = 20_000
_ROWS_OF_A_TABLE = 20
"""Lines of a table that are indexed, from its head: more would be found for any number."""


@define
class RecordMaker:
    """Makes records of files; one per index run.

    Attributes:
        redact: replaces the secrets in the text of a notebook's cell, preserving its lines.
        grammars: the grammars loaded so far.
        given_up: paths of files whose parsing timed out.
    """

    redact: Callable[[str], str] = str
    grammars: Grammars = field(factory=Grammars)
    given_up: list[str] = field(factory=list)

    def records(self, path: str, content: bytes) -> list[Record]:
        """Return a file's units in line order, then its outline.

        A file without units has no outline either.

        Raises `NotTextError` for a file that holds no text that a person wrote.
        """
        if path.lower().endswith(NOTEBOOK):
            return self._notebook(path, content)
        language = parsed_language(path, content)
        written_in, is_prose = (language.name, False) if language else text_language(path)
        text = decode(content, is_code=not is_prose)
        lines = text.lines[:_ROWS_OF_A_TABLE] if is_table(path) else text.lines
        if language is not None:
            definitions, imports = self._structure(path, text.source, language)
        elif written_in in COMPONENTS:
            definitions, imports = self._structure(
                path, script_of(lines), language_named("typescript")
            )
        else:
            found = () if is_prose else plain_definitions(lines, written_in)
            definitions, imports = found, ()
        file_name = path.rpartition("/")[2]
        chunks = chunk_file(lines, definitions, file_name, "section" if is_prose else "lines")
        if not is_prose and not (language and definitions):
            chunks = _with_plain_names(chunks)
        return self._records(path, written_in, chunks, imports)

    def _notebook(self, path: str, content: bytes) -> list[Record]:
        text = decode(content, is_code=False)
        notebook = read_notebook("\n".join(text.lines), self.redact)
        language = language_named(notebook.language)
        definitions, imports = self._structure(path, notebook.source, language)
        chunks = chunk_notebook(notebook, definitions, path.rpartition("/")[2])
        return self._records(path, notebook.language, chunks, imports)

    def _structure(
        self, path: str, source: bytes, language: Language | None
    ) -> tuple[Sequence[Definition], Sequence[Import]]:
        """Return a file's definitions and imports; empty if it cannot be parsed."""
        grammar = self.grammars.get(language) if language else None
        if language is None or grammar is None:
            return (), ()
        try:
            matches = grammar.matches(source)
        except ParseTooLongError:
            self.given_up.append(path)
            _log.warning("parsing_given_up", path=path, language=language.name)
            return (), ()
        definitions = find_definitions(matches, source, language)
        return definitions, find_imports(matches, source, language.name)

    def _records(
        self, path: str, language: str, chunks: Sequence[Chunk], imports: Sequence[Import] = ()
    ) -> list[Record]:
        counted: Counter[str] = Counter()
        records = []
        for chunk in chunks:
            counted[chunk.qualified_name] += 1
            ordinal = counted[chunk.qualified_name]
            records.append(
                Record(
                    id=f"{path}::{chunk.qualified_name}" + (f"#{ordinal}" if ordinal > 1 else ""),
                    text=chunk.text,
                    keywords=_keywords(path, chunk),
                    fields=_fields(path, language, chunk),
                )
            )
        if records:
            records.append(self._outline(path, language, chunks, imports))
        return records

    def _outline(
        self, path: str, language: str, chunks: Sequence[Chunk], imports: Sequence[Import]
    ) -> Record:
        fields: dict[str, object] = {"kind": OUTLINE, "file_path": path, "language": language}
        if imports:
            fields["imports"] = [each.as_field() for each in imports]
        return Record(id=path, text=outline_words(path, chunks), fields=fields)


def _with_plain_names(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [
        evolve(chunk, defines=plain_names(chunk.text)) if chunk.unit_type == "lines" else chunk
        for chunk in chunks
    ]


def _keywords(path: str, chunk: Chunk) -> str:
    # A window is short. With the name of the definition it is part of, it would rank above it.
    is_named = chunk.unit_type == CELL or chunk.unit_type not in WINDOW_TYPES
    name = chunk.qualified_name if is_named else ""
    # The store's tokenizer does not part `Norm1d`.
    parts = [part for part, digit in _BEFORE_A_DIGIT.findall(name) if digit]
    return " ".join([path, name, *parts] * _NAME_WEIGHT)


def _fields(path: str, language: str, chunk: Chunk) -> dict[str, object]:
    fields: dict[str, object] = {
        "kind": UNIT,
        "file_path": path,
        "start_line": chunk.first + 1,
        "end_line": chunk.last + 1,
        "language": language,
        "qualified_name": chunk.qualified_name,
        "name": chunk.name,
        "unit_type": chunk.unit_type,
        "signature": chunk.signature,
        "docstring": chunk.docstring,
    }
    if chunk.defines:
        fields["defines"] = list(chunk.defines)
    return fields


def outline_words(path: str, chunks: Sequence[Chunk]) -> str:
    """Return a file's outline.

    It has the path, each qualified name once, and the first lines of docstrings.

    Args:
        path: the file's path.
        chunks: the file's chunks; a window contributes only the names that it defines.
    """
    names = dict.fromkeys(name for chunk in chunks for name in _names(chunk))
    summaries = dict.fromkeys(chunk.docstring.split("\n", 1)[0] for chunk in chunks)
    return "\n".join([path, *names, *summaries])[:_MAX_CHARACTERS]


def _names(chunk: Chunk) -> tuple[str, ...]:
    return (
        chunk.defines if chunk.unit_type in WINDOW_TYPES else (chunk.qualified_name, *chunk.defines)
    )
