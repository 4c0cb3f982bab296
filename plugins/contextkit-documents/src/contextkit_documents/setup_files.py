"""Weigh jobs, settings and package files for questions about a project's setup."""

from __future__ import annotations

import re
from collections.abc import Collection

from attrs import frozen

SETUP_KINDS = ("configuration", "metadata")
"""Kinds of chunks that say how a project is set up."""

_EXPLAINED = 0.8
"""Factor for them in other questions, as the documentation explains them."""

_ASKED_FOR = 1.3
"""Factor for jobs and tools' settings, or for package files if the question is about these."""

_MENTIONED = 1.5
"""Factor for a file that the question names: `package.json`."""

_DEEPER = 0.85
"""Factor for each folder that such a file is in: the project's own is at the top."""

_EXAMPLE = 0.6
_EXAMPLES = re.compile(
    r"(?:^|/)(?:examples?|fixtures?|playgrounds?|samples?|templates?)(?:[-_][^/]*)?/"
)
_JOBS = re.compile(r"(?:^|/)\.[^/].*\.(?:ya?ml|json|toml)$|^\.[\w.-]+$", re.IGNORECASE)
_OF_JOBS = re.compile(r"\b(?:ci|workflows?|pipelines?|actions?|jobs?|matrix)\b", re.IGNORECASE)
_OF_PACKAGES = re.compile(
    r"\b(?:versions?|dependenc\w+|depends?|requirements|licen[sc]\w*|scripts?|packages?)\b",
    re.IGNORECASE,
)
_PACKAGE_FILES = (
    *("Cargo.toml", "composer.json", "go.mod", "package.json", "pyproject.toml"),
    *("requirements.txt", "setup.cfg"),
)
_AROUND_A_NAME = "`'\"()[]<>.,;:?!"


@frozen
class SetupQuestion:
    """What a question asks of a project's setup.

    Attributes:
        is_asked: whether it is about the setup at all.
        of_packages: whether about versions, dependencies or a licence.
        files: the files that it names, as written.
    """

    is_asked: bool
    of_packages: bool
    files: frozenset[str]

    @classmethod
    def of(cls, query: str, topics: Collection[str]) -> SetupQuestion:
        """Read a question.

        Args:
            query: the question.
            topics: its topics.
        """
        is_asked = "setup" in topics
        of_packages = _OF_PACKAGES.search(query) and not _OF_JOBS.search(query)
        words = [word.strip(_AROUND_A_NAME) for word in query.split()] if is_asked else []
        named = frozenset(word for word in words if "." in word)
        return cls(is_asked, is_asked and bool(of_packages), named)

    @property
    def own_files(self) -> list[str]:
        """Return the paths of the project's own files that it asks for, if these exist."""
        return sorted({*self.files, *(_PACKAGE_FILES if self.of_packages else ())})

    def worth(self, path: str, kind: object) -> float:
        """Return the factor of a chunk's match.

        Args:
            path: its file's path.
            kind: its kind.
        """
        if kind not in SETUP_KINDS:
            return 1.0
        if not self.is_asked:
            return _EXPLAINED
        named = next((file for file in self.files if f"/{path}".endswith(f"/{file}")), None)
        of_package = self.of_packages and kind == "metadata"
        worth = 1.0 if named is None else _MENTIONED
        if of_package:
            worth *= _ASKED_FOR * (_EXAMPLE if _EXAMPLES.search(path) else 1.0)
        elif not self.of_packages and _JOBS.search(path):
            worth *= _ASKED_FOR
        if named is None and not of_package:
            return worth
        return worth * _DEEPER ** (path.count("/") - (named or "").count("/"))
