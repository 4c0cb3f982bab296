"""A single text within a budget: summarised by a plugin, by its own sentences, or shortened."""

from __future__ import annotations

from contextkit.compression.answers import HOOK, Answers, Wanted
from contextkit.invisible import legible, visible
from contextkit.models import ContextItem
from contextkit.passages import excerpt
from contextkit.registry import SourceRegistry
from contextkit.registry.hook_failures import log_failure
from contextkit.tokens import TokenCounter
from contextkit.truncation import truncate

__all__ = ["compressed"]

_HOST = "host"


async def compressed(
    registry: SourceRegistry, text: str, max_tokens: int, query: str, count: TokenCounter
) -> str:
    """A text of a host's own within so many tokens.

    Args:
        registry: its plugins that summarise for every source are asked, within the configured
            time; what one answers wrongly is logged.
        text: it stays as it is where it fits, but for its invisible characters.
        max_tokens: what the result may take.
        query: what its words are needed for; "" where that is not known.
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
