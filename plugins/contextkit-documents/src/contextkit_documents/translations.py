"""Tell translations of pages from their originals by their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

# A language, or any with its country, such as `id-ID`. Two letters that mean something else in
# paths, such as `id`, `cs` and `no`, are none by themselves.
_FOREIGN = (
    r"(?:(?:ar|bn|cn|de|es|fa|fr|he|hu|it|ja|jp|ko|kr|nl|pl|pt|ru|sv|th|tr|uk|vi|zh)"
    r"(?:[-_][a-z]{2,4})?|(?-i:(?!en)[a-z]{2,3}[-_][A-Z]{2}))"
)
TRANSLATED = re.compile(rf"(?:^|/)(?:[^/]*[-_.])?{_FOREIGN}(?:/|\.\w+$)", re.IGNORECASE)
"""The path of a page in another language than English."""

_LANGUAGE = re.compile(
    rf"(?:^|(?<=/))(?:{_FOREIGN}|en(?:[-_][a-z]{{2}})?)/"
    rf"|[-_.](?:{_FOREIGN}|en(?:[-_][a-z]{{2}})?)(?=\.\w+$)",
    re.IGNORECASE,
)


def translations_of_others(paths: Iterable[str]) -> Set[str]:
    """Return the paths whose page is there in English too.

    `docs/fr/setup.md` and `docs/setup.fr.md` are translations of `docs/setup.md`, and of
    `docs/en/setup.md`.
    """
    known = set(paths)
    translated = {path for path in known if TRANSLATED.search(path)}
    originals = {_LANGUAGE.sub("", path) for path in known - translated}
    return {path for path in translated if _LANGUAGE.sub("", path) in originals}
