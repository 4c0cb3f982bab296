"""Skip files by name: fetched, built, locked or minified ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from contextkit.indexing import TOOL_FOLDERS, compile_globs

_TOOLS = "fetched or made by a tool"
_VENDORED = "vendored"
_LOCK = "a lock file"
_MINIFIED = "minified"
_GENERATED = "generated"

_DIRECTORIES = {
    **dict.fromkeys(TOOL_FOLDERS, _TOOLS),
    ".hg": _TOOLS,
    ".svn": _TOOLS,
    "third_party": _VENDORED,
}
_VENDOR_PROOF = ("vendor/modules.txt", "vendor/autoload.php")
_SCRIPTS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".tsx")
_FILES = (
    (
        _LOCK,
        r".+\.lock|.+[-.]lock\.(?:json|ya?ml)|npm-shrinkwrap\.json|bun\.lockb|go\.sum|"
        r"gradle\.lockfile|package\.resolved",
    ),
    (_MINIFIED, r".+[-.]min\.(?:js|mjs|cjs|css)|.+\.(?:bundle|chunk)\.(?:js|mjs|css)"),
    (
        _GENERATED,
        r".+\.(?:js|css|ts)\.map|.+_pb2(?:_grpc)?\.pyi?|.+\.pb\.(?:go|cc|h)|.+\.g\.(?:dart|cs)|"
        r".+\.designer\.cs|.+\.freezed\.dart|.+\.snap|zz_generated.*\.go",
    ),
    ("a drawing", r".+\.svg"),
    (
        "a licence's text",
        r"(?:un)?licen[cs]e(?:-[\w.-]+?)?(?:\.(?:md|rst|txt))?|"
        r"copying(?:[-.](?:\d|a?gpl|lesser|lgpl|lib|md|mit|rst|runtime|txt)\w*)?",
    ),
)
# One pattern with a group for each reason, because most names match none.
_PATTERN = re.compile("|".join(f"({pattern})" for _, pattern in _FILES), re.IGNORECASE)


class Selection:
    """Select the workspace files to index, by path.

    With `include`, only files that match one of its globs are indexed. In `exclude`, `!glob` takes
    back what an earlier glob, or a built-in rule, leaves out.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = compile_globs(include) if include else None
        self._exclude = compile_globs(exclude) if exclude else None
        self._takes_back = any(glob.lstrip().startswith("!") for glob in exclude)
        self._folders: dict[str, tuple[str, str] | None] = {}

    def wants(self, path: str) -> bool | None:
        """Apply the settings' globs to a path.

        False excludes it, True includes it again, None means that no glob matches.
        """
        if self._include is not None and not self._include.match_file(path):
            return False
        if self._exclude is None:
            return None
        excluded = self._exclude.check_file(path).include
        return None if excluded is None else not excluded

    def prunes(self, folder: str) -> tuple[str, str] | None:
        """Return a folder to skip, and the reason.

        The folder ends in a `/`. None for folders that must be walked.
        """
        if self._takes_back:
            return None
        if self._exclude is not None and self._exclude.match_file(folder):
            return folder, "excluded by the settings"
        return self.passed_over(folder)

    def passed_over(self, path: str) -> tuple[str, str] | None:
        """Return what the built-in rules skip, and the reason.

        It is the file or a folder that it is in.
        """
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = _folder_passed_over(folder)
        passed = self._folders[folder]
        if passed is not None:
            return passed
        found = _PATTERN.fullmatch(name)
        return (path, _FILES[(found.lastindex or 1) - 1][0]) if found else None


def _folder_passed_over(path: str) -> tuple[str, str] | None:
    folders = path.split("/")
    for depth, folder in enumerate(folders):
        reason = _DIRECTORIES.get(folder)
        if reason is None and folder.endswith(".git"):
            reason = "a git repository's own files"
        if reason is not None:
            return "/".join(folders[: depth + 1]) + "/", reason
    return None


def made_folders(paths: Collection[str]) -> dict[str, str]:
    """Map folders that a package manager or a build filled to the reasons to skip them.

    The files that a package manager leaves in them tell. What a package of JavaScript builds is
    its `dist/`, if most of its code is elsewhere.
    """
    proofs = (path for path in paths if path.endswith(_VENDOR_PROOF))
    vendored = sorted(path.rpartition("/")[0] + "/" for path in proofs)
    return {**dict.fromkeys(vendored, _VENDORED), **dict.fromkeys(_built(paths), _GENERATED)}


def made_folder(path: str, made: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the outermost of `made_folders` that a file is in, and the reason to skip it."""
    return next(((each, made[each]) for each in _folders_of(path) if each in made), None)


def _folders_of(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, outermost first, each ending in a `/`."""
    end = 0
    while end := path.find("/", end) + 1:
        yield path[:end]


def _built(paths: Collection[str]) -> list[str]:
    scripts = [f"/{path}" for path in paths if path.endswith(_SCRIPTS)]
    made = Counter(path.partition("/dist/")[0] + "/" for path in scripts if "/dist/" in path)
    manifests = [f"/{path}" for path in paths if path.endswith("package.json")]
    packages = made.keys() & {path.removesuffix("package.json") for path in manifests}
    inside = Counter(each for path in scripts for each in _folders_of(path) if each in packages)
    return [
        f"{package}dist/".lstrip("/")
        for package in sorted(packages)
        if 2 * made[package] < inside[package]
    ]
