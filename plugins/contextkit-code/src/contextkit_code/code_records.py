"""Make the records of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import define, evolve, field

from contextkit import Record
from contextkit.logs import get_logger
from contextkit_code.chunks import WINDOW_TYPES, Chunk, chunk_file
from contextkit_code.definitions import Definition, find_definitions
from contextkit_code.grammars import Grammars, ParseTooLongError
from contextkit_code.imports import Import, find_imports
from contextkit_code.languages.language import Language
from contextkit_code.plain_names import plain_names
from contextkit_code.record_kinds import OUTLINE, UNIT
from contextkit_code.text_files import decode, parsed_language, text_language

_log = get_logger(__name__)

# A unit's name says more than any word in its text. Counting it three times ranks the right file
# clearly higher. The parts of identifiers are not repeated here: the store's tokenizer already adds
# them to the text, and adding them twice ranks worse than once.
_NAME_WEIGHT = 3
_MAX_CHARACTERS = 20_000


@define
class RecordMaker:
    """Makes records of files; one per index run.

    Attributes:
        grammars: the grammars loaded so far.
        given_up: paths of files whose parsing timed out.
    """

    grammars: Grammars = field(factory=Grammars)
    given_up: list[str] = field(factory=list)

    def records(self, path: str, content: bytes) -> list[Record]:
        """Return a file's units in line order, then its outline.

        A file without units has no outline either.

        Raises `NotTextError` for a file that holds no text that a person wrote.
        """
        language = parsed_language(path, content)
        text = decode(content, language=language)
        file_name = path.rpartition("/")[2]
        if language is not None:
            definitions, imports = self._structure(path, text.source, language)
            chunks = chunk_file(text.lines, definitions, file_name, "lines")
            if not definitions:
                chunks = _with_plain_names(chunks)
            return self._records(path, language.name, chunks, imports)
        written_in, prose = text_language(path)
        chunks = chunk_file(text.lines, (), file_name, "section" if prose else "lines")
        return self._records(path, written_in, chunks if prose else _with_plain_names(chunks))

    def _structure(
        self, path: str, source: bytes, language: Language
    ) -> tuple[Sequence[Definition], Sequence[Import]]:
        """Return a file's definitions and imports; empty if parsing fails."""
        grammar = self.grammars.get(language)
        if grammar is None:
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


def _with_plain_names(windows: Sequence[Chunk]) -> list[Chunk]:
    return [evolve(window, defines=plain_names(window.text)) for window in windows]


def _keywords(path: str, chunk: Chunk) -> str:
    # A window is short. With the name of the definition it is part of, it would rank above it.
    name = [] if chunk.unit_type in WINDOW_TYPES else [chunk.qualified_name]
    return " ".join([path, *name] * _NAME_WEIGHT)


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
