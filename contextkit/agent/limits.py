"""The time limits within a hook, which all derive from `hooks.timeout`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Mapping

from attrs import evolve

from contextkit.agent.events import PROMPT
from contextkit.agent.supervisor import COLD_SECONDS
from contextkit.config.load import load_config
from contextkit.config.settings import Config
from contextkit.errors import ContextKitError
from contextkit.kit import ContextKit
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.hold import held, waiting_at_most
from contextkit.workspace.find import Workspace

_SHARE_OF_THE_REST = 0.3
"""The part of the time left that ranking, rendering and the way back may need."""

_MOST_FOR_THE_REST = 1.0
_SHARE_OF_ONE_STEP = 0.25
_MOMENT = 0.05


@contextlib.asynccontextmanager
async def opened(store: RecordStore, deadline: float) -> AsyncIterator[None]:
    """Open the store for an answer, or go on without it if another process keeps it.

    Sources that need no store then answer nevertheless.

    Args:
        store: the store.
        deadline: the time, by `time.monotonic`, at which the agent stops waiting.
    """
    seconds = _SHARE_OF_ONE_STEP * (deadline - time.monotonic())
    async with contextlib.AsyncExitStack() as stack:
        try:
            with waiting_at_most(seconds):
                await stack.enter_async_context(held(store))
        except ContextKitError:
            # The sources that need the store report the error.
            stack.enter_context(waiting_at_most(_MOMENT))
        yield


def cold_seconds(config: Config, event: str) -> float:
    """Return the time limit of an event while no background server runs."""
    is_set = "hooks.timeout" in config.origins
    return config.hooks.timeout if is_set or event != PROMPT else COLD_SECONDS


def seconds_for_sources(deadline: float) -> float:
    """Return how long the sources may take so that the answer is in time.

    Args:
        deadline: the time, by `time.monotonic`, at which the agent stops waiting.

    Raises `TimeoutError` if it has passed.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time limit passed before the sources were queried")
    return left - min(left * _SHARE_OF_THE_REST, _MOST_FOR_THE_REST)


def open_for_hooks(
    found: Workspace, environment: Mapping[str, str], *, models: bool = True
) -> ContextKit:
    """Open a workspace for hooks.

    A reranker, a summarizer or a plugin's model takes at most a part of `hooks.timeout`, whatever
    its own setting is.

    Raises what `ContextKit.open` raises.
    """
    config = _within_the_limit(load_config(found, environment=environment))
    return ContextKit.over(found, config, SourceRegistry(config), models=models)


def _within_the_limit(config: Config) -> Config:
    most = config.hooks.timeout * _SHARE_OF_ONE_STEP
    assemble, embedding = config.assemble, config.embedding
    return evolve(
        config,
        assemble=evolve(
            assemble,
            rerank_timeout=min(assemble.rerank_timeout, most),
            compress_timeout=min(assemble.compress_timeout, most),
        ),
        embedding=evolve(embedding, timeout=min(embedding.timeout, most)),
    )
