"""How much of what answers a question is in a context; knows nothing of how it came there."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

__all__ = ["evidence_recall", "mean"]


def evidence_recall(context: str, evidence: Sequence[str]) -> float:
    """The share of the texts that are in the context, 0..1.

    Letters and digits alone are compared, so that what a format escapes or wraps counts.
    A shortened text does not count.
    """
    shown = _bare(context)
    return mean(1.0 if _bare(text) in shown else 0.0 for text in evidence)


def mean(values: Iterable[float]) -> float:
    """Their mean; 0 for none."""
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
