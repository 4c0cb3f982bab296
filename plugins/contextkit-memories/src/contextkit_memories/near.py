"""Find the memories nearest to a new one, and how they differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from contextkit import Hit, Records
from contextkit.text import STOP_WORDS
from contextkit_memories.memory import Memory

_CONSIDERED = 20
_READ_WORDS = 200
_SHOWN_WORDS = 6
_ALIKE = 0.5
_SIMILAR = 0.6
_WORD = re.compile(r"[^\W_]+(?:[-.:/'’][^\W_]+)*")


@frozen
class Near:
    """A memory near to a new one.

    Attributes:
        memory: the memory.
        differs: how the new text differs from it, such as `30 → 60`.
    """

    memory: Memory
    differs: str

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        memory = self.memory
        return {
            "id": memory.id,
            "created_at": memory.created_at.isoformat(),
            "text": memory.text,
            "differs": self.differs,
        }


def nearest(records: Records, memory: Memory, limit: int) -> list[Near]:
    """Return the true memories nearest to one, nearest first.

    Memories of its sequence are left out: the turns of a session resemble each other.
    """
    hits = records.search_sync(memory.text, limit=_CONSIDERED)
    rated = sorted(((_likeness(memory.text, hit), hit) for hit in hits), key=lambda each: -each[0])
    near: list[Near] = []
    for likeness, hit in rated:
        other = Memory.from_record(hit.record)
        if likeness < _ALIKE or len(near) == limit:
            break
        of_its_sequence = memory.sequence is not None and other.sequence == memory.sequence
        if other.id != memory.id and other.valid_until is None and not of_its_sequence:
            near.append(Near(other, differences(other.text, memory.text)))
    return near


def differences(older: str, newer: str) -> str:
    """Describe how a text differs from an older one."""
    old, new = _words(older), _words(newer)
    folded = [word.casefold() for word in old], [word.casefold() for word in new]
    if folded[0] == folded[1]:
        return "the same words"
    changes = [
        _change(old[a:b], new[c:d])
        for what, a, b, c, d in difflib.SequenceMatcher(None, *folded, autojunk=False).get_opcodes()
        if what != "equal"
    ]
    return ", ".join(changes)


def _change(old: Sequence[str], new: Sequence[str]) -> str:
    if not old:
        return f"+ {_shortened(new)}"
    return f"{_shortened(old)} → {_shortened(new)}" if new else f"- {_shortened(old)}"


def _shortened(words: Sequence[str]) -> str:
    return f"{' '.join(words[:_SHOWN_WORDS])}{' …' if len(words) > _SHOWN_WORDS else ''}"


def _words(text: str) -> list[str]:
    return _WORD.findall(text)[:_READ_WORDS]


def _likeness(text: str, hit: Hit) -> float:
    """Rate how near a hit is, 0..1: by words in common, or by meaning."""
    here, there = _content(text), _content(hit.record.text)
    common = len(here & there) / max(1, min(len(here), len(there)))
    similar = hit.similarity or 0.0
    return max(common, _ALIKE * similar / _SIMILAR)


def _content(text: str) -> set[str]:
    words = {word.casefold() for word in _words(text)}
    return words - STOP_WORDS or words
