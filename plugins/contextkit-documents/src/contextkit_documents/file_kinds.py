"""Determine a file's kind by name.

It is documentation, configuration, project metadata, or none of these.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from attrs import frozen

from contextkit.indexing import TOOL_FOLDERS

Kind = Literal["documentation", "configuration", "metadata"]

_PROSE = {
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".markdown": "markdown",
    ".md": "markdown",
    ".mdx": "markdown",
    ".org": "org",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".rdoc": "asciidoc",
    ".rst": "rst",
    ".textile": "text",
    ".txt": "text",
}
_CONFIGURATION = {
    ".cfg": "ini",
    ".conf": "ini",
    ".ini": "ini",
    ".json": "json",
    ".json5": "json",
    ".jsonc": "json",
    ".properties": "ini",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
_METADATA = {
    "cargo.toml": "toml",
    "citation.cff": "yaml",
    "composer.json": "json",
    "go.mod": "text",
    "package.json": "json",
    "pyproject.toml": "toml",
    "setup.cfg": "ini",
}
_PLAIN_NAMES: Final = re.compile(
    r"(?:readme|changelog|changes|history|news|contributing|authors|contributors|install|"
    r"maintainers|security|support|governance|todo|roadmap|architecture|design)"
)
_OTHER_CONFIGURATION = {".editorconfig": "ini", "cmakelists.txt": "text"}
_REQUIREMENTS = re.compile(r"(?:.+[-_.])?(?:requirements|constraints)(?:[-_.].+)?\.txt")
_OF_REQUIREMENTS = re.compile(r"(?:^|/)requirements/[^/]+\.txt$")

_MANUAL = re.compile(r"[a-z][\w.+-]*(?<=[a-z])\.[1-8](?:\.(?:in|prebuilt|tmpl))?")
"""A page of a manual, such as `git-add.1`; `v1.2` is none."""

_LOCK = re.compile(r".+\.lock|.+[-.]lock\.(?:json|ya?ml)|npm-shrinkwrap\.json|package\.resolved")
_LICENCE = re.compile(
    r"(?:(?:un)?licen[cs]e|copying)(?:\.(?:md|rst)|[-_.](?:a?gpl|apache|bsd|isc|lgpl|mit|mpl)\b.*"
    r"|[-_.](?!.*\.(?:adoc|mdx?|rst)$).+)?"
    # `MIT-LICENSE`, `third_party_licenses.txt`; `add-license.md` and `license-keys.md` are pages.
    r"|(?:[a-z\d]++[-_]){1,3}licen[cs]es?(?:\.txt)?"
)
_OF_PLAIN_TEXT = {
    "a licence's text": {"licences", "licenses"},
    "a test's data": {"fixtures", "regress", "spec", "specs", "test", "testdata", "tests"},
}
"""What plain text in some folders is: REUSE has `LICENSES/MIT.txt`. A README may be about them."""

_TRANSLATIONS = frozenset({"i18n", "l10n", "lang", "locale", "locales", "translations"})
"""Folders whose settings are texts of a program in other languages."""

_FOLDERS = TOOL_FOLDERS | {"third_party"}


@frozen
class FileKind:
    """The kind of a document.

    Attributes:
        kind: the kind of its chunks; in a file of metadata, chunks that are not about the project
            are configuration.
        language: `markdown`, `rst`, `man`, `toml`, …
    """

    kind: Kind
    language: str


_PLAIN_TEXT = FileKind("documentation", "text")


def kind_of(path: str) -> FileKind | None:
    """Return the file's kind; None for other files."""
    name = path.rpartition("/")[2].lower()
    if name in _METADATA:
        return FileKind("metadata", _METADATA[name])
    if name in _OTHER_CONFIGURATION:
        return FileKind("configuration", _OTHER_CONFIGURATION[name])
    if _REQUIREMENTS.fullmatch(name) or _OF_REQUIREMENTS.search(path):
        return FileKind("metadata", "text")
    stem, dot, end = name.rpartition(".")
    suffix = dot + end if stem else ""
    if suffix in _CONFIGURATION:
        return FileKind("configuration", _CONFIGURATION[suffix])
    prose = "man" if _MANUAL.fullmatch(name) else _PROSE.get(suffix)
    if prose is None and _PLAIN_NAMES.fullmatch(name):
        prose = "text"
    return None if prose is None else FileKind("documentation", prose)


def skipped_by_name(path: str) -> str | None:
    """Return why a document's name or folder excludes it.

    None if it is not excluded.
    """
    *folders, name = path.lower().split("/")
    if not _FOLDERS.isdisjoint(folders):
        return "fetched or made by a tool"
    for pattern, reason in (
        (_LOCK, "a lock file"),
        (_LICENCE, "a licence's text"),
    ):
        if pattern.fullmatch(name):
            return reason
    if name.endswith(".api.md"):
        # API Extractor writes all of a package's declarations.
        return "generated"
    what = kind_of(path)
    if what is not None and what.kind == "configuration" and not _TRANSLATIONS.isdisjoint(folders):
        return "translations of a program"
    is_plain = what == _PLAIN_TEXT and not _PLAIN_NAMES.match(name)
    reasons = (why for why, names in _OF_PLAIN_TEXT.items() if not names.isdisjoint(folders))
    return next(reasons, None) if is_plain else None
