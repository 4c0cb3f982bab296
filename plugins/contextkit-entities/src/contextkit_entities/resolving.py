"""Resolve imports to files, their definitions, or external modules."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from attrs import define, field

from contextkit_entities.code_facts import CodeFile, Files

_LONGEST_TAIL = 8
_RE_EXPORTS = 5
_PARTS = re.compile(r"[.\\/:]+")
_JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})
_BY_PATH = frozenset({"java", "kotlin", "scala", "rust", "csharp", "php", "perl", "haskell"})
_BY_FILE = frozenset({"c", "cpp", "dart", "objectivec", "ruby", "solidity"})
_SUFFIXES = ("ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts")
_JAVASCRIPT_ENDING = re.compile(r"\.[cm]?jsx?$")
_OF_RUST = frozenset({"crate", "super", "self"})
_STANDARD = {
    "java": ("java", "javax"),
    "kotlin": ("java", "javax", "kotlin", "kotlinx"),
    "scala": ("java", "javax", "scala"),
    "rust": ("std", "core", "alloc", "self", "super", "crate"),
    "csharp": ("System", "Microsoft"),
    "haskell": ("Prelude", "Data", "Control", "System", "Text"),
    "julia": ("Base", "Core", "Main"),
    "perl": ("base", "constant", "feature", "lib", "parent", "strict", "utf8", "vars", "warnings"),
    "swift": ("Foundation", "Swift"),
}


class Target(NamedTuple):
    """The target of an import.

    Attributes:
        path: the file, or empty for a module outside the workspace.
        name: the imported definition of the file; or the module.
    """

    path: str
    name: str = ""


class Resolved(NamedTuple):
    """The resolved imports of a file.

    Attributes:
        targets: the targets of its imports, each once, in order.
        looked_into: the files whose definitions and imports determined the targets, beside its own.
    """

    targets: tuple[Target, ...]
    looked_into: frozenset[str]


def resolve(files: Files) -> dict[str, Resolved]:
    """Resolve the imports of some files."""
    resolver = Resolver(files)
    return {path: resolver.resolved(path) for path in files}


def resolve_again(
    files: Files, before: Files, known: Mapping[str, Resolved]
) -> Mapping[str, Resolved]:
    """Resolve imports again, using the result for the previous files.

    The result equals that of `resolve`. While no file is added, removed, or changes its language,
    only imports from and through changed files resolve differently.
    """
    if [(p, f.language) for p, f in files.items()] != [(p, f.language) for p, f in before.items()]:
        return resolve(files)
    changed = {
        path
        for path, file in files.items()
        if file is not before[path] and file.links != before[path].links
    }
    resolver = Resolver(files)
    return {
        path: resolver.resolved(path)
        if path in changed or not changed.isdisjoint(each.looked_into)
        else each
        for path, each in known.items()
    }


class _Import(NamedTuple):
    """An import: its file, folder, language, module and imported names."""

    path: str
    folder: str
    language: str
    module: str
    names: Sequence[str] = ()


@define(eq=False)
class Resolver:
    """Resolves the imports of a set of files.

    Attributes:
        files: the files.
    """

    files: Files
    _by_tail: dict[tuple[str, ...], list[str]] = field(factory=dict, init=False)
    _packages: frozenset[str] = field(init=False)
    _names: dict[str, frozenset[str]] = field(factory=dict, init=False)
    _sought: set[tuple[str, str]] = field(factory=set, init=False)
    _looked_into: set[str] = field(factory=set, init=False)
    _modules: dict[tuple[str, tuple[str, ...]], str] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        by_tail: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path in sorted(self.files, key=lambda path: (path.count("/"), path)):
            parts = _module_parts(path)
            for length in range(1, min(len(parts), _LONGEST_TAIL) + 1):
                by_tail[parts[-length:]].append(path)
        self._by_tail = dict(by_tail)
        packages = (p for p in self.files if p.endswith("/__init__.py"))
        self._packages = frozenset(posixpath.dirname(path) for path in packages)

    def resolved(self, path: str) -> Resolved:
        """Return a file's resolved imports, without itself and standard modules."""
        file, folder = self.files[path], posixpath.dirname(path)
        self._looked_into.clear()
        found = (
            target
            for module, names in file.imports
            for target in self._found(_Import(path, folder, file.language, module, names))
            if target.path != path
        )
        return Resolved(tuple(dict.fromkeys(found)), frozenset(self._looked_into))

    def _found(self, wanted: _Import) -> Iterator[Target]:
        if wanted.language == "python":
            return self._python(wanted)
        if wanted.language in _JAVASCRIPT:
            return self._javascript(wanted)
        if wanted.language in _BY_FILE or wanted.module.endswith(".jl"):
            return self._file(wanted)
        return self._dotted(wanted) if wanted.language in _BY_PATH else _module(wanted)

    # -- by language ------------------------------------------------------------------------

    def _python(self, wanted: _Import) -> Iterator[Target]:
        name = wanted.module.lstrip(".")
        parts = tuple(part for part in name.split(".") if part)
        if level := len(wanted.module) - len(name):
            folders = wanted.path.split("/")[:-1]
            if level <= len(folders) + 1:
                base = folders[: len(folders) - level + 1]
                yield from self._taken(wanted, lambda inner: self._below(base, (*parts, *inner)))
            return
        ends = ((parts, wanted.names), (parts[:-1], parts[-1:]))
        within = next((end for end in ends if self._python_file(wanted.folder, end[0])), None)
        if within is not None:
            module, names = within
            of = wanted._replace(names=names)
            yield from self._taken(
                of, lambda inner: self._python_file(of.folder, (*module, *inner))
            )
            return
        if parts and parts[0] not in sys.stdlib_module_names:
            yield Target("", parts[0])

    def _taken(self, wanted: _Import, file_of: Callable[[Sequence[str]], str]) -> Iterator[Target]:
        """Yield a Python import's targets.

        They are definitions of the module or modules below it, and the module itself.
        """
        module = file_of(())
        for name in wanted.names:
            if defined := (self._defined(module, name) if module else None):
                yield defined
            elif below := file_of((name,)):
                yield Target(below)
        if module:
            yield Target(module)

    def _below(self, folders: Sequence[str], parts: Sequence[str]) -> str:
        stem = "/".join([*folders, *parts])
        inside = "/".join([*folders, *parts, "__init__.py"])
        return next((f for f in (f"{stem}.py", inside, f"{stem}.pyi") if f in self.files), "")

    def _python_file(self, folder: str, parts: tuple[str, ...]) -> str:
        """Return the file of an absolute module.

        It is below a folder that is not itself a package.
        """
        known = self._modules.get((folder, parts))
        if known is None:
            found = [
                each
                for each in self._by_tail.get(parts, ())
                if each.endswith((".py", ".pyi")) and _above(each, len(parts)) not in self._packages
            ]
            known = self._modules[folder, parts] = _nearest(found, folder)
        return known

    def _javascript(self, wanted: _Import) -> Iterator[Target]:
        module = wanted.module
        if not module.startswith("."):
            if not module.startswith("node:"):
                scope = 2 if module.startswith("@") else 1
                yield Target("", "/".join(module.split("/")[:scope]))
            return
        stem = _joined(wanted.path, module)
        bare = _JAVASCRIPT_ENDING.sub("", stem)
        tries = [f"{bare}{end}.{suffix}" for end in ("", "/index") for suffix in _SUFFIXES]
        if found := next((each for each in (stem, *tries) if each in self.files), ""):
            for name in wanted.names:
                if defined := self._defined(found, name):
                    yield defined
            yield Target(found)

    def _file(self, wanted: _Import) -> Iterator[Target]:
        """Yield the file named by a path.

        It is beside the importing file, or has the end of that path.
        """
        named = wanted.module
        if wanted.language == "ruby" and not named.endswith(".rb"):
            named += ".rb"
        beside = _joined(wanted.path, named)
        same = [
            each
            for each in self._by_tail.get(_module_parts(named), ())
            if f"/{each}".endswith(f"/{named}")
        ]
        if found := (beside if beside in self.files else _nearest(same, wanted.folder)):
            yield Target(found)
        elif wanted.language == "ruby" and not wanted.module.startswith("."):
            yield from _module(wanted)

    def _dotted(self, wanted: _Import) -> Iterator[Target]:
        """Yield the target of a path of names.

        It is a file, or a definition in one.
        """
        parts = tuple(part for part in _PARTS.split(wanted.module) if part)
        while parts and parts[0] in _OF_RUST:
            parts = parts[1:]
        for length in (len(parts), len(parts) - 1):
            same = [
                each
                for each in self._by_tail.get(parts[:length], ())
                if self.files[each].language == wanted.language
            ]
            if found := _nearest(same, wanted.folder):
                if defined := self._defined(found, parts[-1]):
                    yield defined
                yield Target(found)
                return
        yield from _module(wanted)

    # -- what files define --------------------------------------------------------------------

    def _defined(self, path: str, name: str, depth: int = _RE_EXPORTS) -> Target | None:
        """Return a file's definition of that name.

        The file may also import it from another.
        """
        file = self.files[path]
        self._looked_into.add(path)
        if path not in self._names:
            self._names[path] = frozenset(each.name for each in file.definitions)
        if name in self._names[path]:
            return Target(path, name)
        if depth == 0 or (path, name) in self._sought:
            return None
        # A package that imports a module's name from a missing module leads to itself.
        self._sought.add((path, name))
        try:
            return self._re_exported(path, file, name, depth)
        finally:
            self._sought.discard((path, name))

    def _re_exported(self, path: str, file: CodeFile, name: str, depth: int) -> Target | None:
        for module, names in file.imports:
            if name in names:
                wanted = _Import(path, posixpath.dirname(path), file.language, module)
                for target in self._found(wanted):
                    if target.path and target.path != path:
                        return self._defined(target.path, name, depth - 1)
        return None


def _module(wanted: _Import) -> Iterator[Target]:
    """Yield an external module, by its distinguishing part."""
    parts = [part for part in _PARTS.split(wanted.module) if part]
    if wanted.language == "go":
        host, _, rest = wanted.module.partition("/")
        # Go's own modules have no host in their path.
        if "." in host:
            yield Target("", "/".join([host, *rest.split("/")[:2]]))
    elif parts and parts[0] not in _STANDARD.get(wanted.language, ()):
        yield Target("", parts[0])


def _joined(path: str, module: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), module))


def _module_parts(path: str) -> tuple[str, ...]:
    """Return a file's path as its module's name.

    The suffix is dropped, and a package's init file stands for the package.
    """
    parts = path.split("/")
    parts[-1] = parts[-1].partition(".")[0] or parts[-1]
    return tuple(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _above(path: str, parts: int) -> str:
    """Return the folder that contains a module of this depth."""
    return "/".join(path.removesuffix("/__init__.py").split("/")[:-parts])


def _nearest(paths: Sequence[str], folder: str) -> str:
    """Return the file that shares most folders with a folder.

    Of several the first; "" where there is none.
    """
    if len(paths) < 2:
        return "".join(paths)
    folders = folder.split("/") if folder else []

    def common(each: str) -> int:
        return len(posixpath.commonprefix([folders, each.split("/")[:-1]]))

    return max(paths, key=common)
