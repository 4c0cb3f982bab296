"""Examples in documentation, which answer how something is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from contextkit import ContextItem, IndexReport
from contextkit_code import contextkit_format

NOISE = [f"It has rule number {n}, which says little." for n in range(12)]

SOURCES = {
    "lib.rs": (
        "/// Moors a boat at the pier.\n"
        + "".join(f"/// {line}\n///\n" for line in NOISE)
        + "/// # Examples\n///\n/// ```rust\n/// let pier = Pier::new();\n///\n"
        '/// pier.moor("tern");\n/// ```\n/// Further words.\n'
        + "".join(f"/// {line}\n///\n" for line in NOISE)
        + "pub fn moor(name: &str) -> usize {\n    name.len()\n}\n"
    ),
    "Pier.java": (
        "class Pier {\n    /**\n     * Moors a boat at the pier.\n     *\n"
        + "".join(f"     * {line}\n     *\n" for line in NOISE)
        + "     * For example:\n     * <pre>{@code\n     * Pier pier = new Pier();\n"
        '     * pier.moor("tern");\n     * }</pre>\n     *\n'
        + "".join(f"     * {line}\n     *\n" for line in NOISE)
        + "     */\n    int moor(String name) {\n        return name.length();\n    }\n}\n"
    ),
    "pier.py": (
        'def moor(name):\n    """Moor a boat at the pier.\n\n'
        + "".join(f"    {line}\n\n" for line in NOISE)
        + '    >>> pier = Pier()\n    >>> pier.moor("tern")\n    4\n\n'
        + "".join(f"    {line}\n\n" for line in NOISE)
        + '    """\n    return len(name)\n'
    ),
    "pier.js": (
        "/**\n * Moors a boat at the pier.\n *\n"
        + "".join(f" * {line}\n *\n" for line in NOISE)
        + ' * @example\n * const pier = new Pier();\n *\n * pier.moor("tern");\n'
        " * @returns {number}\n"
        + "".join(f" * {line}\n *\n" for line in NOISE)
        + " */\nfunction moor(name) {\n  return name.length;\n}\n"
    ),
    "pier.ex": (
        'defmodule Pier do\n  @doc """\n  Moors a boat at the pier.\n\n'
        + "".join(f"  {line}\n\n" for line in NOISE)
        + "  ## Examples\n\n      pier = Pier.new()\n\n"
        '      pier.moor("tern")\n\n'
        + "".join(f"  {line}\n\n" for line in NOISE)
        + '  """\n  def moor(name), do: len(name)\nend\n'
    ),
    "pier.rb": (
        "# Moors a boat at the pier.\n"
        + "".join(f"# {line}\n#\n" for line in NOISE)
        + '# Example:\n#\n#   pier = Pier.new\n#   pier.moor("tern")\n#\n'
        + "".join(f"# {line}\n#\n" for line in NOISE)
        + "def moor(name)\n  name.length\nend\n"
    ),
    "Pier.cs": (
        "class Pier {\n    /// <summary>Moors a boat at the pier.</summary>\n"
        + "".join(f"    /// {line}\n    ///\n" for line in NOISE)
        + "    /// <code>\n    /// var pier = new Pier();\n"
        '    /// pier.moor("tern");\n    /// </code>\n'
        + "".join(f"    /// {line}\n    ///\n" for line in NOISE)
        + "    int moor(string name) {\n        return name.Length;\n    }\n}\n"
    ),
}


@pytest.mark.parametrize("path", SOURCES)
def test_how_something_is_used_is_shown_by_its_example(
    project: Callable[[Mapping[str, str]], IndexReport],
    ask: Callable[..., list[ContextItem]],
    path: str,
) -> None:
    """Whole, with the code that it is for, and not where a question asks for something else."""
    project({path: SOURCES[path]})
    assert 'pier.moor("tern")' not in _shown(ask("where is a boat moored at the pier?"))
    text = _shown(ask("how do I moor a boat at the pier?"))
    assert "Moor" in text
    assert "new" in text or "Pier()" in text
    assert 'pier.moor("tern")' in text
    assert "name.len" in text.lower() or "len(name)" in text
    assert "rule number 5" not in text


def test_parameters_are_shown_to_who_asks_how_something_is_used(
    project: Callable[[Mapping[str, str]], IndexReport],
    ask: Callable[..., list[ContextItem]],
) -> None:
    """Of a docstring that is not long; others are shown the lines that match."""
    lines = [f"    :param rope_{n}: what it is tied with." for n in range(9)]
    docs = "\n".join(['    """Moor a boat at the pier.', "", *lines, '    """'])
    project({"pier.py": f"def moor(*ropes):\n{docs}\n    return len(ropes)\n"})
    assert ":param rope_7:" in _shown(ask("how do I moor a boat at the pier?"))
    assert ":param rope_7:" not in _shown(ask("where is a boat moored at the pier?"))


def test_documentation_is_not_parted_from_its_function(
    project: Callable[[Mapping[str, str]], IndexReport],
    ask: Callable[..., list[ContextItem]],
) -> None:
    """However long it is: a part without a signature does not say what it documents."""
    lines = [f"/// Part {n} of what is said about tides." for n in range(180)]
    project({"lib.rs": "\n".join([*lines, "pub fn tides() -> u8 {", "    1", "}", ""])})
    found = ask("how do I read the tides?")
    assert [item.metadata["start_line"] for item in found] == [1]
    assert "pub fn tides() -> u8 {" in _shown(found)


def _shown(items: list[ContextItem]) -> str:
    return contextkit_format(items[:1], "markdown", "full")[0]
