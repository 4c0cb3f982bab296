"""Find the files that a newer version of their folder replaces.

A repository often keeps the documentation, or the code, of several versions side by side:
`manual/v1.4` beside `manual/dev`, `docs-v3` beside `docs`, `shelf/v1/errors.py` beside
`shelf/errors.py`. They say nearly the same, and only the
newest is of use to somebody who names no version.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator

_VERSIONED = re.compile(
    r"(?:(?P<name>.+?)[-_.])??(?:v(?:er(?:sion)?[-_]?)?(?P<v>\d+(?:[._]\d+)*)(?:[._]x)?"
    r"|(?P<dotted>\d+(?:\.\d+)+|\d+(?=\.x))(?:\.x)?)",
    re.IGNORECASE,
)
"""A folder of one version. A single number needs a `v`: `part-2` is no version."""

_LONGEST = 64
_OF_SEVERAL = "versioned_docs"
"""Docusaurus keeps older versions of `docs` in such a folder."""

_NEWEST = frozenset({"current", "dev", "latest", "main", "master", "next", "stable", "unreleased"})
_NUMBER = re.compile(r"\d+(?:\.\d+)*")

_Version = tuple[float, ...]
_CURRENT: _Version = (math.inf,)


def older_versions(paths: Collection[str], query: str) -> frozenset[str]:
    """Return the paths in folders that a newer version replaces.

    The newer version is that of another path. A version that the query names is not returned.

    Args:
        paths: of files in one project, with `/`.
        query: the question.
    """
    found = {path: versions for path in paths if (versions := dict(_versions_in(path)))}
    if not found:
        return frozenset()
    known = frozenset(paths)
    newest: dict[tuple[str, str], _Version] = defaultdict(tuple)
    for versions in found.values():
        for folder, version in versions.items():
            newest[folder] = max(newest[folder], version)
    for parent, name in [*newest]:
        inside = parent and f"{parent}/"
        current = tuple(f"{inside}{each}/" for each in ([name] if name else _NEWEST))
        replaced = not name and any(_moved_up(path, inside) in known for path in paths)
        if replaced or any(path.startswith(current) for path in paths):
            newest[parent, name] = _CURRENT
    asked = {tuple(map(float, each.split("."))) for each in _NUMBER.findall(query)}
    return frozenset(
        path
        for path, versions in found.items()
        if asked.isdisjoint(versions.values())
        and any(version < newest[folder] for folder, version in versions.items())
    )


def _moved_up(path: str, inside: str) -> str:
    """Return where a file of an old version stands in the current one, or "".

    `shelf/v1/errors.py` is the old version of `shelf/errors.py`.
    """
    version, _, rest = path.removeprefix(inside).partition("/")
    is_old = path.startswith(inside) and rest and _VERSIONED.fullmatch(version[:_LONGEST])
    return f"{inside}{rest}" if is_old else ""


def _versions_in(path: str) -> Iterator[tuple[tuple[str, str], _Version]]:
    """Yield the versioned folders of a path: parent, name without the version, and version."""
    folders = path.split("/")[:-1]
    for place, folder in enumerate(folders):
        match = _VERSIONED.fullmatch(folder) if len(folder) <= _LONGEST else None
        if match is None:
            continue
        parent, name = "/".join(folders[:place]), match["name"] or ""
        if not name and folders[place - 1 : place] == [_OF_SEVERAL]:
            parent, name = "/".join(folders[: place - 1]), "docs"
        number = match["v"] or match["dotted"]
        yield (parent, name), tuple(float(part) for part in re.split(r"[._]", number))
