"""Cache the code that attrs and `re` generate, as Python keeps compiled modules.

Nearly a fifth of a start would be spent on generating the methods of some 300 classes and the
code of some 300 patterns, the same each time. It is for processes of contextkit's own, not for
hosts: while it is in use, it takes the place of two functions of attrs and `re`.
"""

from __future__ import annotations

import contextlib
from _thread import allocate_lock
from array import array
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from contextkit.disk_cache import cache_file, read_cache, write_cache

_MOST = 4000
"""Limit of cached entries, some four times what all commands together use."""

_FEW = 10
"""Do not rewrite the file for this many new entries or fewer.

The standard library's `tokenize` has another pattern in each process.
"""

_HASHING = "hash((\n"


@contextlib.contextmanager
def cached_code() -> Iterator[None]:
    """Use cached code within the block, and cache new code at its end."""
    finish = use_cached_code()
    try:
        yield
    finally:
        finish()


def use_cached_code() -> Callable[[], None]:
    """Use cached code until the returned function is called, which caches new code.

    Nothing is cached with versions of attrs and Python that have other private parts.
    """
    try:
        from re import _compiler  # type: ignore[attr-defined]

        # It is imported here alone: some processes end before they need it.
        from attr import _make

        engine: Any = _compiler._sre
    except (ImportError, AttributeError):
        return lambda: None

    file = cache_file(__file__, "code")
    scripts: dict[Any, Any]
    patterns: dict[Any, Any]
    scripts, patterns = read_cache(file, None) or ({}, {})
    known = len(scripts) + len(patterns)
    if known >= _MOST:
        scripts, patterns, known = {}, {}, 0
    generate, generating = _compiler.compile, allocate_lock()

    def compile_script(script: str, filename: str, mode: str) -> CodeType:
        key = (_without_seed(script), filename)
        if key not in scripts:
            scripts[key] = compile(key[0], filename, mode)
        code: CodeType = scripts[key]
        return code

    def compile_pattern(pattern: Any, flags: int = 0) -> Any:
        key = (pattern, int(flags))
        if key not in patterns:
            with generating:
                _compiler._sre = _Recording(engine, lambda given: patterns.update({key: given}))
                try:
                    return generate(pattern, flags)
                finally:
                    _compiler._sre = engine
        flags, code, names = patterns[key]
        return engine.compile(pattern, flags, memoryview(code).cast("I").tolist(), *names)

    def finish() -> None:
        del vars(_make)["compile"]
        _compiler.compile = generate
        if len(scripts) + len(patterns) > known + _FEW:
            write_cache(file, None, [scripts, patterns])

    vars(_make)["compile"] = compile_script
    _compiler.compile = compile_pattern
    return finish


def _without_seed(script: str) -> str:
    """Return a script that is the same in each process.

    A class's hash method begins with a number that depends on the hash seed of the process.
    """
    before, begins, after = script.partition(_HASHING)
    return f"{before}{begins}0,{after.partition(',')[2]}" if begins else script


class _Recording:
    """The engine of `re`, recording what a pattern is made of."""

    def __init__(self, engine: Any, record: Callable[[tuple[Any, ...]], None]) -> None:
        self._engine = engine
        self._record = record

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def compile(self, pattern: Any, flags: int, code: list[int], *names: Any) -> Any:
        """Make a pattern of its code."""
        # As bytes, it takes a tenth of the room.
        self._record((int(flags), array("I", code).tobytes(), names))
        return self._engine.compile(pattern, flags, code, *names)
