"""Tell which release a section of release notes is about, or a guide on moving to one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextkit import Record

_CHANGES = re.compile(
    r"(?:^|/)(?:(?:(?P<may>(?<=/)(?:history|news|releases?)|[\w.]+-(?:changes|changelogs?))"
    r"|changes|changelogs?|history|news"
    r"|releases?(?:[-_]notes)?|whats?[-_]?new)(?:[-_.]?v?\d[\w.-]*)?(?:\.[a-z]+)?$"
    r"|(?:changelogs?|whats?[-_]?new|release[-_]notes)/|releases?/v?\d[^/]*$)",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d[.-]\d|unreleased", re.IGNORECASE)
"""A version or a date. A page such as `guides/releases.md` lists changes if its headings have one,
and may be about deploying a release otherwise."""

_GUIDE = re.compile(r"(?:^|/)[^/]*(?:upgrad|migrat)[^/]*(?:/|$)", re.IGNORECASE)
_VERSION = re.compile(
    r"(?<![\w.])(?P<v>v?)(\d{1,5})(?:\.(\d{1,5}))?(?:\.(\d{1,5}))?(?:\.x\b)?(?![\d-])",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"(?:\* )?(?:version |release |v\.? ?)?\W?\d{1,5}\.\d{1,5}(?:\.\d|[\W_abr]|$)", re.IGNORECASE
)
_FROM_TO = re.compile(r"CHANGES FROM \S+ TO \S")
_LONGEST_TITLE = 80

_COMING = re.compile(
    r"unreleased|upcoming|development|\b(?:dev|tbd|main|master|head)\b|\bnext\b(?![.\w])",
    re.IGNORECASE,
)
ABOVE_ALL = 10**15
"""The number of a release that has none yet."""

_PART = 10**5
"""The parts of a version are the digits of its number, to this base."""


def lists_changes(record: Record) -> bool:
    """Return whether a record is of a page that lists what changed."""
    fields = record.fields
    found = _CHANGES.search(str(fields.get("file_path") or ""))
    if found is None or not found["may"]:
        return found is not None
    return any(_DATED.search(str(heading)) for heading in fields.get("headings") or ())


def is_changelog(path: str) -> bool:
    """Return whether a page lists what changed, as its path alone tells."""
    found = _CHANGES.search(path)
    return found is not None and not found["may"]


def is_guide(path: str) -> bool:
    """Return whether a page is a guide on moving to a version, as its path tells."""
    return _GUIDE.search(path) is not None


def starts_a_release(line: str) -> bool:
    """Return whether a line is the title of a release: it begins with its version."""
    title = _STARTS.match(line) or _FROM_TO.match(line)
    return title is not None and len(line) <= _LONGEST_TITLE


def release_fields(path: str, headings: Sequence[str]) -> dict[str, int | bool]:
    """Return the fields of a section of release notes, or of a guide on moving to a release.

    Args:
        path: the path of its page.
        headings: its headings, the highest first.

    Returns:
        `release`: the number of the release, as `releases_of` counts; `coming`: whether it is not
        released yet. Empty for other sections.
    """
    moves = is_guide(path)
    if not moves and _CHANGES.search(path) is None:
        return {}
    for heading in reversed(headings):
        found = [each for each in versions_in(heading) if moves or _is_sure(each)]
        if found:
            # "From v17 to v18" is about the second.
            version = found[-1] if moves else found[0]
            return {"release": _number(version), "coming": bool(_COMING.search(heading))}
        if not moves and _COMING.search(heading):
            return {"release": ABOVE_ALL, "coming": True}
    of_file = next(filter(_is_sure, versions_in(path.rpartition("/")[2])), None)
    return {} if of_file is None else {"release": _number(of_file), "coming": False}


def _is_sure(version: re.Match[str]) -> bool:
    """Return whether it can be nothing else, such as the day of a date."""
    return is_dotted(version) or bool(version["v"])


def versions_in(text: str) -> Iterator[re.Match[str]]:
    """Find what may be a version: digits and dots, in a group `v` what stands before them."""
    return _VERSION.finditer(text)


def is_dotted(version: re.Match[str]) -> bool:
    """Return whether a version has several parts."""
    return version[3] is not None


def releases_of(version: re.Match[str]) -> tuple[int, int]:
    """Return the numbers of the releases that a version means: the first, and the first behind.

    `3.2` means 3.2.0 and 3.2.1, but not 3.3.0.
    """
    parts = 3 - version.group(2, 3, 4).count(None)
    return _number(version), _number(version) + _PART ** (3 - parts)


def _number(version: re.Match[str]) -> int:
    number = 0
    for part in version.group(2, 3, 4):
        number = number * _PART + int(part or 0)
    return number
