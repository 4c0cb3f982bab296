"""Rerank items of all sources together with plugins.

A cross-encoder is an example of such a plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attrs import evolve

from contextkit.models.candidate import Candidate
from contextkit.models.request import ContextRequest
from contextkit.pipeline.hook_timeout import attempt_within
from contextkit.plugin.checks import Failed, checked_scores
from contextkit.plugin.manager import SourceRegistry

HOOK = "contextkit_rerank"


async def rerank(
    registry: SourceRegistry,
    plugins: Sequence[str],
    request: ContextRequest,
    candidates: Sequence[Candidate],
    failed: Failed,
) -> list[Candidate]:
    """Reorder candidates by the first plugin that returns scores.

    Args:
        registry: calls the hook.
        plugins: the plugins that have it, in the order in which they are asked.
        request: the context's request.
        candidates: best first, without duplicates.
        failed: called for a plugin that fails, is late or gives a bad answer.

    Returns:
        The same candidates, best first.
    """
    if not candidates:
        return []
    items = [candidate.item for candidate in candidates]
    for plugin in plugins:
        scores = await attempt_within(
            registry,
            plugin,
            HOOK,
            partial(checked_scores, plugin, items=len(items)),
            failed,
            registry.config.assemble.rerank_timeout,
            request=request,
            items=items,
        )
        if scores is not None:
            marked = map(_marked, candidates, scores)
            return sorted(marked, key=lambda candidate: candidate.order)
    return list(candidates)


def _marked(candidate: Candidate, score: float) -> Candidate:
    return evolve(candidate, scores=evolve(candidate.scores, rerank=score))
