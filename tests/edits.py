"""Passages of prose, and the edits that keep or change what they say."""

from __future__ import annotations

import random
import re
from pathlib import Path

__all__ = ["PROSE", "edited", "passages"]

PROSE = (Path(__file__).parent / "data" / "tokens" / "prose.txt").read_text(encoding="utf-8")


def edited(text: str, kind: str, rng: random.Random) -> str:
    """A text with one declared edit."""
    words = text.split()
    match kind:
        case "case and punctuation":
            return re.sub(r"[.,!?]", "", text).lower()
        case "white space":
            return "  ".join(words) + "\n"
        case "a dropped word":
            del words[rng.randrange(len(words))]
            return " ".join(words)
        case "a prefix":
            return f"Note to self: {text}"
        case "swapped":
            first, _, rest = text.partition(". ")
            return f"{rest} {first}."
        case _:
            place = rng.randrange(1, len(words))
            return " ".join([*words[:place], "not", *words[place:]])


def passages() -> list[str]:
    """Two sentences each, of every place of a text."""
    sentences = [sentence.strip() for sentence in re.split(r"(?<=[.?])\s+", PROSE)]
    return [" ".join(sentences[start : start + 2]) for start in range(len(sentences) - 1)]
