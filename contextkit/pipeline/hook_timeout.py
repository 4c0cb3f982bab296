"""Call slow hooks in a thread, with a timeout."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from contextkit.concurrency import in_thread
from contextkit.errors import in_words
from contextkit.plugin.checks import Failed
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.times import Starvation, hook_times

T = TypeVar("T")


def note_late(plugin: str, hook: str, seconds: float) -> None:
    """Note a late call in the running assembly, if any."""
    if (times := hook_times()) is not None:
        times.add_late(plugin, hook, seconds)


async def attempt_within(
    registry: SourceRegistry,
    plugin: str,
    hook: str,
    checked: Callable[[Any], T],
    failed: Failed,
    seconds: float,
    *,
    allowed: float | None = None,
    **arguments: Any,
) -> T | None:
    """Call one plugin's hook in a thread, with a timeout.

    A plugin that is late is skipped by later assemblies for a while, unless the machine was busy.

    Args:
        registry: calls the hook.
        plugin: the plugin.
        hook: its hook.
        checked: checks the result; raises `SourceError`.
        failed: called with plugin, hook and reason when the hook fails or is late.
        seconds: how long to wait.
        allowed: the time that the reason names, of which `seconds` are left.
        arguments: the hook's.

    Returns:
        The checked result; None where the hook gave None, failed or was late.
    """
    call = partial(registry.attempt, plugin, hook, checked, failed, **arguments)
    starvation = Starvation()
    try:
        async with asyncio.timeout(seconds):
            return await in_thread(call)
    except TimeoutError:
        failed(plugin, hook, f"no answer within {seconds if allowed is None else allowed:g} s")
        if not starvation.is_bad:
            note_late(plugin, hook, seconds)
    except Exception as error:  # noqa: BLE001 - an error that ends the thread is this plugin's alone
        failed(plugin, hook, in_words(error))
    return None
