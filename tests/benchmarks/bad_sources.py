"""Sources that do something wrong: one factory a kind, for tests and benchmarks.

A factory gets the name of the source and the seconds for which a slow one is slow, and returns
the hooks of a plugin. What hangs does so for that time only, so that a run ends.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from contextkit import ContextItem, ContextRequest
from contextkit.logs import get_logger
from tests.benchmarks.odd_results import (
    Deep,
    Endless,
    RaisingText,
    SlowItem,
    SlowMapping,
    SlowSequence,
    SlowText,
    item_of,
)

__all__ = ["KINDS", "Hooks"]

Hooks = dict[str, Any]
_Query = Callable[[ContextRequest], Any]

_MANY = 1_000_000
_LONG_TEXT = 20_000_000
_ALLOCATED = 100_000_000
_LINES = 20_000
_log = get_logger(__name__)

_sleep = time.sleep
"""What an asynchronous query must not call, and calls here."""


def _finds(name: str, **hooks: Any) -> Hooks:
    """A source whose query is right, with these further hooks."""
    return {"contextkit_query": lambda request: [item_of(name)], **hooks}


def _asks(query: _Query) -> Hooks:
    return {"contextkit_query": query}


# -- queries that fail ----------------------------------------------------------------------


def _raising(error: Callable[[], BaseException], *, in_loop: bool) -> Callable[[str, float], Hooks]:
    def factory(name: str, seconds: float) -> Hooks:
        def raises(request: ContextRequest) -> Any:
            raise error()

        async def raises_in_loop(request: ContextRequest) -> Any:
            raise error()

        return _asks(raises_in_loop if in_loop else raises)

    return factory


def _recursion(name: str, seconds: float) -> Hooks:
    def deeper(request: ContextRequest) -> Any:
        return deeper(request)

    return _asks(deeper)


def _closes_the_loop(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        asyncio.get_running_loop().close()

    return _asks(query)


def _changes_the_request(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Any:
        for field in ("filters", "weights", "limits", "timeouts", "settings"):
            changed: Any = getattr(request, field)
            changed["created_at"] = changed["good0"] = 0
        for field, value in {"query": "", "limit": 0, "max_tokens": 0}.items():
            object.__setattr__(request, field, value)
        return [item_of(name)]

    return _asks(query)


# -- queries that take long -----------------------------------------------------------------


def _times_out(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        await asyncio.sleep(seconds)

    return _asks(query)


def _ignores_cancellation(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                continue

    return _asks(query)


def _blocks_the_loop(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        _sleep(seconds)
        return [item_of(name)]

    return _asks(query)


def _blocks_the_loop_later(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        await asyncio.sleep(0.001)
        _sleep(seconds)
        return [item_of(name)]

    return _asks(query)


def _blocks_in_short_steps(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        for _ in range(100):
            _sleep(seconds / 100)
            await asyncio.sleep(0)
        return [item_of(name)]

    return _asks(query)


def _slow_in_a_thread(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Any:
        time.sleep(seconds)
        return [item_of(name)]

    return _asks(query)


def _computes_in_a_thread(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Any:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            sum(range(100))
        return [item_of(name)]

    return _asks(query)


def _computes_in_the_loop(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        return _computes_in_a_thread(name, seconds)["contextkit_query"](request)

    return _asks(query)


def _spawns_threads(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Any:
        for _ in range(50):
            threading.Thread(target=time.sleep, args=[seconds], daemon=True).start()
        return [item_of(name)]

    return _asks(query)


def _floods_the_log(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Any:
        for number in range(_LINES):
            _log.debug("flood", number=number)
            logging.getLogger(name).debug("flood %s", number)
        return [item_of(name)]

    return _asks(query)


# -- results that are wrong -----------------------------------------------------------------


def _a_million_items(name: str, seconds: float) -> Hooks:
    return _asks(lambda request: [item_of(name, id=str(number)) for number in range(_MANY)])


def _a_million_items_in_the_loop(name: str, seconds: float) -> Hooks:
    async def query(request: ContextRequest) -> Any:
        return [item_of(name, id=str(number)) for number in range(_MANY)]

    return _asks(query)


def _one_item_a_million_times(name: str, seconds: float) -> Hooks:
    found = [item_of(name)] * _MANY
    return _asks(lambda request: found)


def _an_endless_generator(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Iterator[ContextItem]:
        for number in itertools.count():
            yield item_of(name, id=str(number))

    return _asks(query)


def _gigantic_text(name: str, seconds: float) -> Hooks:
    text = "the tide rises " * (_LONG_TEXT // 15)
    return _asks(lambda request: [item_of(name, text)])


def _many_long_texts(name: str, seconds: float) -> Hooks:
    text = "the tide rises " * 40_000
    return _asks(lambda request: [item_of(name, f"{n} {text}", id=str(n)) for n in range(50)])


def _wrong_types(name: str, seconds: float) -> Hooks:
    return _asks(lambda request: [item_of(name), 7, None, "text", object()])


def _wrong_fields(name: str, seconds: float) -> Hooks:
    return _asks(lambda request: [item_of(name, title=7, also_in=[1], must_keep=("x", 2))])


def _huge_metadata(name: str, seconds: float) -> Hooks:
    metadata = {f"key {number}": "the tide rises " * 10 for number in range(200_000)}
    return _asks(lambda request: [item_of(name, metadata=metadata)])


def _slow_texts(name: str, seconds: float) -> Hooks:
    kind = type("Slow", (SlowText,), {"seconds": seconds})

    def query(request: ContextRequest) -> Any:
        text = kind(f"the tide rises in the harbour says {name}")
        return [ContextItem(name, text, 0.9, {"key": text}, id="1", title=text)]

    return _asks(query)


def _raising_texts(name: str, seconds: float) -> Hooks:
    text = RaisingText(f"the tide rises in the harbour says {name}")
    return _asks(lambda request: [ContextItem(name, text, 0.9, {"key": text}, id="1", kind=text)])


def _slow_attributes(name: str, seconds: float) -> Hooks:
    kind = type("Slow", (SlowItem,), {"seconds": seconds})
    return _asks(lambda request: [kind(name, "the tide rises", 0.9, id="1")])


def _slow_mapping(name: str, seconds: float) -> Hooks:
    return _asks(lambda request: [item_of(name, metadata=SlowMapping(seconds))])


# -- other hooks ----------------------------------------------------------------------------


def _in_hooks(act: Callable[[float], None], *hooks: str) -> Callable[[str, float], Hooks]:
    """A source whose query is right, and whose other hooks do something first."""

    def factory(name: str, seconds: float) -> Hooks:
        def contextkit_format(items: Sequence[ContextItem]) -> list[str]:
            act(seconds)
            return [item.content for item in items]

        def contextkit_weight(request: ContextRequest) -> float:
            act(seconds)
            return 1.0

        def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
            act(seconds)
            return [[] for _ in items]

        def contextkit_signals(query: str) -> None:
            act(seconds)

        def contextkit_truncate(item: ContextItem, max_tokens: int) -> None:
            act(seconds)

        def contextkit_redact(texts: Sequence[str]) -> None:
            act(seconds)

        def contextkit_rerank(items: Sequence[ContextItem]) -> None:
            act(seconds)

        def contextkit_compress(items: Sequence[ContextItem]) -> None:
            act(seconds)

        known = locals()
        long = "the tide rises in the harbour. " * 4000
        content = (
            long
            if {"contextkit_truncate", "contextkit_compress"} & {*hooks}
            else "the tide rises in the harbour"
        )
        return {
            "contextkit_query": lambda request: [item_of(name, content)],
            **{hook: known[hook] for hook in hooks},
        }

    return factory


def _raise(seconds: float) -> None:
    raise ValueError("no such tide")


def _exit(seconds: float) -> None:
    raise SystemExit(3)


def _allocate(seconds: float) -> None:
    bytearray(_ALLOCATED)


def _long_formats(name: str, seconds: float) -> Hooks:
    text = "the tide rises " * (_LONG_TEXT // 15)
    return _finds(name, contextkit_format=lambda items: [text for _ in items])


def _many_keys(name: str, seconds: float) -> Hooks:
    keys = [f"key:{number}" for number in range(_MANY)]
    return _finds(name, contextkit_dedup_keys=lambda items: [keys for _ in items])


async def _found_later(result: Any) -> Any:
    return result


def _an_awaitable(name: str, seconds: float) -> Hooks:
    def query(request: ContextRequest) -> Awaitable[Any]:
        return _found_later(SlowSequence(name, seconds))

    return _asks(query)


_SLOW_HOOKS = (
    *("format", "weight", "dedup_keys", "signals"),
    *("truncate", "redact", "rerank", "compress"),
)

KINDS: Mapping[str, Callable[[str, float], Hooks]] = {
    "raises": _raising(lambda: ValueError("no tide"), in_loop=False),
    "raises in the loop": _raising(lambda: ValueError("no tide"), in_loop=True),
    "SystemExit": _raising(lambda: SystemExit(3), in_loop=True),
    "KeyboardInterrupt in a thread": _raising(KeyboardInterrupt, in_loop=False),
    "KeyboardInterrupt": _raising(KeyboardInterrupt, in_loop=True),
    "GeneratorExit": _raising(GeneratorExit, in_loop=True),
    "CancelledError": _raising(asyncio.CancelledError, in_loop=True),
    "recursion": _recursion,
    "closes the loop": _closes_the_loop,
    "changes the request": _changes_the_request,
    "times out": _times_out,
    "ignores cancellation": _ignores_cancellation,
    "blocks the loop": _blocks_the_loop,
    "blocks the loop later": _blocks_the_loop_later,
    "blocks in short steps": _blocks_in_short_steps,
    "computes in the loop": _computes_in_the_loop,
    "slow in a thread": _slow_in_a_thread,
    "computes in a thread": _computes_in_a_thread,
    "spawns threads": _spawns_threads,
    "floods the log": _floods_the_log,
    "a million items": _a_million_items,
    "a million items, in the loop": _a_million_items_in_the_loop,
    "one item a million times": _one_item_a_million_times,
    "endless generator": _an_endless_generator,
    "endless sequence": lambda name, seconds: _asks(lambda request: Endless(name)),
    "slow sequence": lambda name, s: _asks(lambda request: SlowSequence(name, s)),
    "slow sequence, later": _an_awaitable,
    "gigantic text": _gigantic_text,
    "many long texts": _many_long_texts,
    "wrong types": _wrong_types,
    "wrong fields": _wrong_fields,
    "huge metadata": _huge_metadata,
    "endless metadata": lambda n, s: _asks(lambda request: [item_of(n, metadata=Deep())]),
    "slow __eq__ and __hash__": _slow_texts,
    "raising __eq__ and __hash__": _raising_texts,
    "slow attributes": _slow_attributes,
    "slow mapping": _slow_mapping,
    "gigantic format": _long_formats,
    "a million keys": _many_keys,
    **{f"sleeps in {hook}": _in_hooks(time.sleep, f"contextkit_{hook}") for hook in _SLOW_HOOKS},
    "sleeps a little in each hook": _in_hooks(
        lambda seconds: time.sleep(seconds / 40),
        *(f"contextkit_{hook}" for hook in ("format", "weight", "dedup_keys", "signals")),
    ),
    **{
        f"{what} in hooks": _in_hooks(act, *(f"contextkit_{hook}" for hook in _SLOW_HOOKS))
        for what, act in {"raises": _raise, "exits": _exit, "allocates": _allocate}.items()
    },
}
"""What a source does wrong -> the factory of its hooks."""
