"""Results of bad sources: sequences, texts and mappings whose methods do something wrong."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contextkit import ContextItem

__all__ = [
    "Deep",
    "Endless",
    "RaisingText",
    "SlowItem",
    "SlowMapping",
    "SlowSequence",
    "SlowText",
    "item_of",
]


def item_of(name: str, text: str = "the tide rises in the harbour", **fields: Any) -> ContextItem:
    """Make an item that answers as well as those of the good sources."""
    return ContextItem(name, f"{text} says {name}", 0.9, **{"id": "1", **fields})


class Endless(Sequence[ContextItem]):
    """Items without an end."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        return item_of(self.name, id=str(place))


class SlowSequence(Sequence[ContextItem]):
    """An item that takes long to be read."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds

    def __len__(self) -> int:
        time.sleep(self.seconds)
        return 1

    def __getitem__(self, place: Any) -> Any:
        time.sleep(self.seconds)
        return [item_of(self.name)][place]


class Deep(dict[str, Any]):
    """Contains itself."""

    def __init__(self) -> None:
        super().__init__()
        self["self"] = self


class SlowText(str):
    """A text whose methods are slow."""

    __slots__ = ()

    seconds = 0.0

    def __eq__(self, other: object) -> bool:
        time.sleep(self.seconds)
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        time.sleep(self.seconds)
        return str.__hash__(self)

    def __str__(self) -> str:
        time.sleep(self.seconds)
        return str.__str__(self)

    def __len__(self) -> int:
        time.sleep(self.seconds)
        return str.__len__(self)


class RaisingText(str):
    """A text whose methods raise."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparison")

    def __hash__(self) -> int:
        raise ValueError("no hash")

    def __str__(self) -> str:
        raise ValueError("no text")

    def __len__(self) -> int:
        raise ValueError("no length")


class SlowMapping(Mapping[str, Any]):
    """Metadata that takes long to be read."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __getitem__(self, key: str) -> Any:
        time.sleep(self.seconds)
        return "value"

    def __iter__(self) -> Iterator[str]:
        time.sleep(self.seconds)
        return iter(["key"])

    def __len__(self) -> int:
        return 1


class SlowItem(ContextItem):
    """An item whose content takes long to be read."""

    seconds = 0.0

    def __getattribute__(self, field: str) -> Any:
        if field == "content":
            time.sleep(type(self).seconds)
        return super().__getattribute__(field)
