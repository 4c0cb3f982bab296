"""Handle quotes in a question: messages, output, code.

A question of one line that quotes something wants the place that contains the quote, however little
else it shares with it. A long report quotes much that is irrelevant: there a quote counts only for
the units that contain it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextkit import Hit
from contextkit_code.ranking.units import RankedUnit

_QUOTED = re.compile(r"""(?<!\w)(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|`([^`\n]{4,200})`)(?!\w)""")
_LEFT_OUT = re.compile(r"\.\.\.|…")
_SHORTEST = 4
_MOST_PHRASES = 5
_MOST_UNITS = 5
"""Most units that a useful phrase may occur in."""


def phrases_in(query: str) -> list[str]:
    """Return a query's quoted phrases, split at ellipses.

    Plain names are left out.
    """
    quoted = ("".join(found) for found in _QUOTED.findall(query))
    parts = (part.strip() for text in quoted for part in _LEFT_OUT.split(text))
    phrases = [part for part in parts if len(part) >= _SHORTEST and not part.isidentifier()]
    return list(dict.fromkeys(phrases))[:_MOST_PHRASES]


def holding(phrases: Sequence[str], hits: Sequence[Hit]) -> dict[str, Hit]:
    """Return units that contain a rare phrase, by id."""
    found: dict[str, Hit] = {}
    for phrase in phrases:
        own = {hit.record.id: hit for hit in hits if phrase in hit.record.text}
        if len(own) <= _MOST_UNITS:
            found |= own
    return found


def quoted_first(
    phrases: Sequence[str], hits: Sequence[Hit], units: Sequence[RankedUnit], level: float
) -> list[RankedUnit]:
    """Put the units with a rare quoted phrase first.

    Args:
        phrases: the phrases quoted in the question.
        hits: the units that were found for it, ranked or not.
        units: the ranked ones, best first.
        level: the relevance of the best, 0..1.
    """
    quoting = holding(phrases, hits)
    ranked = {unit.hit.record.id: place for place, unit in enumerate(units)}
    in_order = sorted(quoting.values(), key=lambda hit: ranked.get(hit.record.id, len(units)))
    first = [RankedUnit(hit, level, leads=True) for hit in in_order]
    return [*first, *(unit for unit in units if unit.hit.record.id not in quoting)]
