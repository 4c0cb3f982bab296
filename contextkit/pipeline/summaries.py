"""Request summaries from plugins, and shorten single texts.

A source summarises its own items. Any other plugin with the hook may summarise all items. A single
text is summarised by a plugin, or else by its own sentences, or else cut.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from attrs import define, field, frozen

from contextkit.models.items import ContextItem
from contextkit.pipeline.hook_timeout import attempt_within
from contextkit.plugin.checks import Failed, checked_summaries, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.clean import legible, visible
from contextkit.text.passages import excerpt
from contextkit.text.tokens import TokenCounter
from contextkit.text.truncation import truncate

HOOK = "contextkit_compress"


@frozen(eq=False)
class Wanted:
    """A requested summary.

    Attributes:
        item: the item, its content the text that is to be summarised.
        target: tokens that the summary may take.
    """

    item: ContextItem
    target: int


@define(eq=False)
class Answers:
    """Calls summarising plugins in threads, within one shared timeout.

    Each plugin is called once a batch.

    Attributes:
        registry: calls the hooks.
        query: the context's query.
        count: text -> tokens.
        seconds: how long all the answers may take.
        failed: called for hooks that fail or are late.
    """

    registry: SourceRegistry
    query: str
    count: Callable[[str], int]
    seconds: float
    failed: Failed
    _until: float = field(init=False)

    @_until.default
    def _end(self) -> float:
        return time.monotonic() + self.seconds

    @property
    def general(self) -> list[str]:
        """List the plugins that summarise any source's items, by name."""
        sources = {plugin.name for plugin in self.registry.plugins if plugin.is_source}
        return [name for name in self.registry.on_with(HOOK) if name not in sources]

    async def of_own_sources(self, wanted: Sequence[Wanted]) -> dict[int, tuple[str, str]]:
        """Map places in `wanted` to the sources' own summaries.

        The sources are called at once. A value is the plugin and its answer; unanswered places are
        left out.
        """
        own: dict[str, list[int]] = defaultdict(list)
        for place, entry in enumerate(wanted):
            own[entry.item.source].append(place)
        asked = [name for name in own if self.registry.implements(name, HOOK)]
        found = await asyncio.gather(*(self.of(name, wanted, own[name]) for name in asked))
        return {place: answer for answers in found for place, answer in answers.items()}

    async def of(
        self, plugin: str, wanted: Sequence[Wanted], places: Iterable[int]
    ) -> dict[int, tuple[str, str]]:
        """Map places to one plugin's summaries.

        A value is the plugin and its answer; unanswered places are left out.
        """
        places = list(places)
        left = self._until - time.monotonic()
        if not places or left <= 0:
            return {}
        texts = await attempt_within(
            self.registry,
            plugin,
            HOOK,
            partial(checked_summaries, plugin, items=len(places)),
            self.failed,
            left,
            allowed=self.seconds,
            query=self.query,
            items=[wanted[place].item for place in places],
            targets=[wanted[place].target for place in places],
            count=self.count,
        )
        return {
            place: (plugin, text)
            for place, text in zip(places, texts or (), strict=texts is not None)
            if text is not None
        }


_HOST = "host"


async def compressed(
    registry: SourceRegistry, text: str, max_tokens: int, query: str, count: TokenCounter
) -> str:
    """Shorten a host's own text to a number of tokens.

    Args:
        registry: its plugins that summarise for every source are asked, within the configured
            time; what one answers wrongly is logged.
        text: it stays as it is where it fits, but for its invisible characters.
        max_tokens: the result's limit.
        query: the purpose of the text; "" where it is unknown.
        count: text -> tokens.

    Returns:
        The first summary that fits, else the sentences that have most to do with the query,
        else as much as fits from the beginning; "" where that says nothing.
    """
    text = visible(legible(text))
    if count(text) <= max_tokens:
        return text
    seconds = registry.config.assemble.compress_timeout
    answers = Answers(registry, query, count, seconds, log_failure)
    wanted = [Wanted(ContextItem(_HOST, text, 1.0), max_tokens)]
    for plugin in answers.general:
        for _, words in (await answers.of(plugin, wanted, [0])).values():
            summary = visible(legible(words)).strip()
            if summary and count(summary) <= max_tokens:
                return summary
            log_failure(plugin, HOOK, f"the summary is empty, or over {max_tokens} tokens")
    sentences = excerpt(text, query, max_tokens, count)
    return sentences or truncate(text, max_tokens, count)
