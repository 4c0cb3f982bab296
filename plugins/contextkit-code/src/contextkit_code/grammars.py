"""Load grammars on the first file of their language."""

from __future__ import annotations

import ctypes
import importlib
import re
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from attrs import define, field, frozen

from contextkit.logs import get_logger
from contextkit_code.imports import import_query
from contextkit_code.languages.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Point, Query, QueryPredicate, Tree

    Matches = Sequence[tuple[int, dict[str, list[Node]]]]
    """Matches of a language's query: (pattern, capture -> nodes)."""


# A broken file of a megabyte can keep a parser busy for hours, because error recovery is cubic. It
# can also keep a query busy, because that is quadratic in the children of an error. A healthy file
# of that size takes a tenth of a second.
PARSE_SECONDS = 3.0
_MAX_ERROR_CHILDREN = 30_000
_MAX_CHAIN = 10_000
_CHUNK = 16_384
_MAX_DEPTH = 1_000
"""Maximum tree depth searched for definitions."""

_BLANKS = b" \t\n"
_CAPSULE_NAME = b"tree_sitter.Language"

_log = get_logger(__name__)


class ParseTooLongError(Exception):
    """Parsing a broken file timed out."""


@frozen
class Grammar:
    """A language's parser and compiled query."""

    language: Language
    _parser: Parser
    _query: Query

    def matches(self, source: bytes) -> Matches:
        """Run the language's query on a UTF-8 source.

        It matches definitions and imports.

        Raises `ParseTooLongError` for a file that cannot be parsed in reasonable time.
        """
        from tree_sitter import QueryCursor

        hopeless = self.language.hopeless
        if hopeless and re.search(hopeless, source.translate(None, _BLANKS)):
            raise ParseTooLongError
        skipped = self.language.skipped
        known = re.sub(skipped, lambda found: b" " * len(found[0]), source) if skipped else source
        root = self._parse(known).root_node
        if root.has_error and _is_too_broken(root):
            raise ParseTooLongError
        if self.language.chains and _has_long_chain(root, self.language.chains):
            raise ParseTooLongError
        cursor = QueryCursor(self._query)
        # `(a)(a)(a)…` is a call of a call: each step costs time proportional to the depth.
        cursor.set_max_start_depth(_MAX_DEPTH)
        return cursor.matches(root, _conditions(source))

    def _parse(self, source: bytes) -> Tree:
        view = memoryview(source)
        deadline = time.thread_time() + PARSE_SECONDS

        # Some scanners read on to the end of the file at each character that begins no token. The
        # parser does not ask whether time is over meanwhile, so the file then ends for them. It may
        # not end within a character, of which the lexer would read on.
        def read(offset: int, _: Point) -> memoryview:
            if time.thread_time() > deadline:
                return view[:0]
            end = offset + _CHUNK
            while end < len(view) and view[end] & 0xC0 == 0x80:
                end -= 1
            return view[offset:end]

        def is_over(_: int, __: bool) -> bool:
            return time.thread_time() > deadline

        try:
            tree = self._parser.parse(read, progress_callback=is_over)
        except ValueError as error:
            self._parser.reset()
            raise ParseTooLongError from error
        if time.thread_time() > deadline:
            raise ParseTooLongError
        return tree


def _conditions(source: bytes) -> QueryPredicate:
    """Evaluate the `#in?` condition.

    tree-sitter's own conditions read the text, which a tree parsed in parts does not have.
    """

    def holds(
        predicate: str,
        args: list[tuple[str, Literal["capture", "string"]]],
        pattern_index: int,  # noqa: ARG001 (the cursor's signature)
        captures: dict[str, list[Node]],
    ) -> bool:
        (capture, _), *wanted = args
        if predicate != "in?" or not captures.get(capture):
            return False
        node = captures[capture][0]
        text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return any(text == word for word, _ in wanted)

    return holds


def _is_too_broken(root: Node) -> bool:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error and node.child_count > _MAX_ERROR_CHILDREN:
            return True
        pending.extend(child for child in node.children if child.has_error)
    return False


def _has_long_chain(root: Node, chains: Collection[str]) -> bool:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in chains and node.child_count > _MAX_CHAIN:
            return True
        pending.extend(child for child in node.children if child.descendant_count > _MAX_CHAIN)
    return False


@define
class Grammars:
    """The grammars of one index run.

    Attributes:
        problems: language -> the reason it is not parsed, for grammars that failed to load.
    """

    problems: dict[str, str] = field(factory=dict)
    _loaded: dict[str, Grammar] = field(factory=dict, init=False)

    def get(self, language: Language) -> Grammar | None:
        """Return a language's grammar; None if loading failed (see `problems`)."""
        name = language.name
        if name not in self._loaded and name not in self.problems:
            try:
                self._loaded[name] = _load(language)
            # Any exception from a broken wheel disables only this language.
            except Exception as error:  # noqa: BLE001
                self.problems[name] = f"{type(error).__name__}: {error}"
                _log.warning("grammar_failed", language=name, error=self.problems[name])
        return self._loaded.get(name)


def _load(language: Language) -> Grammar:
    from tree_sitter import Language as TreeSitterLanguage, Parser, Query

    factory = getattr(importlib.import_module(language.grammar), language.factory)
    pointer = factory()
    loaded = TreeSitterLanguage(_capsule(pointer) if isinstance(pointer, int) else pointer)
    query = Query(loaded, language.query + import_query(language.name))
    return Grammar(language, Parser(loaded), query)


def _capsule(pointer: int) -> object:
    """Wrap the bare pointer that some wheels give; tree-sitter warns of it."""
    wrap = ctypes.pythonapi.PyCapsule_New
    wrap.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    wrap.restype = ctypes.py_object
    return wrap(pointer, _CAPSULE_NAME, None)
