"""Globs as git reads them in a .gitignore, matched in time that grows with a path's length."""

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

# How pathspec writes `*`, and `**` between two folders and in front of one.
_STAR = "[^/]*"
_ANY_LETTER = "[^/]"
_FOLDERS_BETWEEN = "(?:/.+)?"
_FOLDERS_BEFORE = "^(?:.+/)?"
_SHOWN_CHARACTERS = 40
# `*` and `?` as one character each, which are reserved for a program's own use.
_MARKED_STAR, _MARKED_LETTER = "\ufdd0", "\ufdd1"
_STARS = re.compile(f"{_MARKED_STAR}+")
_STAR_BEFORE_A_STAR = re.compile(f"{_MARKED_STAR}([^{_MARKED_STAR}/]+)(?={_MARKED_STAR})")


def compile_globs(globs: Sequence[str]) -> GitIgnoreSpec:
    """Globs as git reads them in a .gitignore.

    Raises `ValueError` for one that git would not understand, or that is too long.
    """
    from pathspec import GitIgnoreSpec

    if any(len(glob) > MAX_GLOB_CHARACTERS for glob in globs):
        raise ValueError(f"a glob of over {MAX_GLOB_CHARACTERS} characters")
    # Its other engines, which it would take where they are installed, know no atomic groups.
    return GitIgnoreSpec.from_lines(globs, _pattern_class(), backend="simple")


def wrong_globs(key: str, value: object) -> list[str]:
    """What is wrong with a setting that is a list of globs, one text each.

    Args:
        key: the setting's name, which each text begins with.
        value: as it stands in the configuration.
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
        """A glob whose wildcards are tried at one place each."""

        __slots__ = ()

        @classmethod
        def pattern_to_regex(cls, pattern: str) -> tuple[str | None, bool | None]:  # type: ignore[override]
            regex, include = super().pattern_to_regex(pattern)
            return None if regex is None else _linear(regex), include

    return LinearPattern


def _linear(regex: str) -> str:
    """The regular expression of a glob, without backtracking from one wildcard to another.

    What stands between two wildcards is matched where it is found first: a later place leaves
    less for what follows. Only the last wildcard of a name, and the last `**`, are tried at
    other places. `*a*a*a*b` against a name of 200 letters would take years otherwise.
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
