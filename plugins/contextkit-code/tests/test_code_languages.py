"""Every language: what its sample defines, and how its comments are read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit_code.definitions import Definition, find_definitions
from contextkit_code.grammars import Grammars
from contextkit_code.languages.table import LANGUAGES
from contextkit_code.text_files import parsed_language

SAMPLES = Path(__file__).parent / "samples"

EXPECTED = tomllib.loads((SAMPLES.parent / "definitions.toml").read_text())


def _all(definitions: list[Definition]) -> Iterator[Definition]:
    for definition in definitions:
        yield definition
        yield from _all(definition.members)


def _definitions(name: str) -> tuple[str, list[Definition]]:
    content = (SAMPLES / name).read_bytes()
    language = parsed_language(name, content)
    assert language is not None
    grammar = Grammars().get(language)
    assert grammar is not None
    return language.name, list(
        _all(find_definitions(grammar.matches(content), content, grammar.language))
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_every_definition_of_a_sample_is_found(name: str) -> None:
    """Each has its type, dotted name and lines with comments; one its header and docstring too."""
    expected = EXPECTED[name]

    language, definitions = _definitions(name)

    found = [f"{d.unit_type} {d.qualified_name} {d.first + 1}-{d.last + 1}" for d in definitions]
    assert (language, found) == (expected["language"], expected["definitions"].splitlines())
    documented = [[d.qualified_name, d.signature, d.docstring] for d in definitions]
    assert expected["documented"] in documented


def test_every_language_has_a_sample() -> None:
    """The 27 grammars, also those of TypeScript and OCaml that are two, are all tried."""
    assert {language.name for language in LANGUAGES} == {
        each["language"] for each in EXPECTED.values()
    }
    assert set(EXPECTED) == {path.name for path in SAMPLES.iterdir()}
    assert len({language.grammar for language in LANGUAGES}) == 27


def test_no_suffix_belongs_to_two_languages() -> None:
    """A file's name decides for one language."""
    suffixes = [suffix for language in LANGUAGES for suffix in language.suffixes]

    assert sorted(set(suffixes)) == sorted(suffixes)


def test_queries_use_their_own_condition_only() -> None:
    """tree-sitter's own predicates crash on a tree that was read by parts."""
    for language in LANGUAGES:
        assert set(re.findall(r"#[\w-]+\?", language.query)) <= {"#in?"}, language.name
