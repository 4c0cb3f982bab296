"""Match globs as .gitignore does, in linear time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


MAX_GLOBS = 500
MAX_GLOB_CHARACTERS = 500

# How pathspec translates `*`, and `**` between two folders and in front of one.
_STAR = "[^/]*"
_ANY_LETTER = "[^/]"
_FOLDERS_BETWEEN = "(?:/.+)?"
_FOLDERS_BEFORE = "^(?:.+/)?"
_SHOWN_CHARACTERS = 40
# `*` and `?` as one character each, from the range reserved for internal use.
_MARKED_STAR, _MARKED_LETTER = "\ufdd0", "\ufdd1"
_STARS = re.compile(f"{_MARKED_STAR}+")
_STAR_BEFORE_A_STAR = re.compile(f"{_MARKED_STAR}([^{_MARKED_STAR}/]+)(?={_MARKED_STAR})")


def compile_globs(globs: Sequence[str]) -> GitIgnoreSpec:
    """Compile globs with the syntax of .gitignore.

    Raises `ValueError` for an invalid or overlong glob.
    """
    from pathspec import GitIgnoreSpec

    if any(len(glob) > MAX_GLOB_CHARACTERS for glob in globs):
        raise ValueError(f"expected globs of at most {MAX_GLOB_CHARACTERS} characters")
    # pathspec prefers its other engines if they are installed; they have no atomic groups.
    return GitIgnoreSpec.from_lines(globs, _pattern_class(), backend="simple")


def wrong_globs(key: str, value: object) -> list[str]:
    """List the errors of a setting with globs.

    Args:
        key: the setting's name, which each error begins with.
        value: the configured value.
    """
    if not isinstance(value, (list, tuple)):
        return [f'{key}: expected a list of globs such as ["docs/**"], got {value!r}']
    if len(value) > MAX_GLOBS:
        return [f"{key}: expected at most {MAX_GLOBS} globs, got {len(value)}"]
    return [f"{key}: {wrong}" for glob in value if (wrong := _wrong_glob(glob))]


def _wrong_glob(glob: object) -> str | None:
    if not isinstance(glob, str) or not glob.strip():
        return f"expected globs such as 'docs/**', got {glob!r}"
    if len(glob) > MAX_GLOB_CHARACTERS:
        shown = f"{glob[:_SHOWN_CHARACTERS]}…"
        return (
            f"expected globs of at most {MAX_GLOB_CHARACTERS} characters, "
            f"got {shown!r} of {len(glob)}"
        )
    try:
        compile_globs([glob])
    except ValueError:
        return f"{glob!r} is not a glob as in .gitignore"
    return None


@cache
def _pattern_class() -> type[GitIgnoreSpecPattern]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    class LinearPattern(GitIgnoreSpecPattern):
        """A glob whose wildcards do not backtrack."""

        __slots__ = ()

        @classmethod
        def pattern_to_regex(cls, pattern: str) -> tuple[str | None, bool | None]:  # type: ignore[override]
            regex, include = super().pattern_to_regex(pattern)
            return None if regex is None else _linear(regex), include

    return LinearPattern


def _linear(regex: str) -> str:
    """Make a glob's regular expression run in linear time.

    Text between two wildcards is matched at its first occurrence: a later one would leave less
    for the rest. Only the last wildcard of a name, and the last `**`, may backtrack. Otherwise
    `*a*a*a*b` against a name of 200 letters would take years.
    """
    regex = regex.replace(_STAR, _MARKED_STAR).replace(_ANY_LETTER, _MARKED_LETTER)
    regex = _STAR_BEFORE_A_STAR.sub(rf"(?>{_MARKED_STAR}?\1)", _STARS.sub(_MARKED_STAR, regex))
    regex = regex.replace(_MARKED_LETTER, _ANY_LETTER).replace(_MARKED_STAR, _STAR)
    first, *others = regex.split(_FOLDERS_BETWEEN)
    if not others:
        return regex
    if first.startswith(_FOLDERS_BEFORE):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_FOLDERS_BEFORE)}(?=/))"
    inner = [f"(?>(?:/.+?)??{part}(?=/))" for part in others[:-1]]
    return "".join([first, *inner, _FOLDERS_BETWEEN, others[-1]])
