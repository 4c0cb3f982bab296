"""What a Qdrant server's version and strict mode allow."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from attrs import Factory, frozen
from qdrant_client import QdrantClient, models

from contextkit.errors import StoreError

_OLDEST = (1, 11)
_INDEXED_READS = "unindexed_filtering_retrieve"
_INDEXED_WRITES = "unindexed_filtering_update"
_NEEDS = {
    (1, 17): "create a collection safely from two processes at once",
    (1, 18): "add a model's vectors to a collection",
    (1, 19): "count word frequencies per source, which makes keyword scores less exact",
}


@frozen
class ServerVersion:
    """A Qdrant server's version.

    Attributes:
        name: as the server gives it; None if unknown.
    """

    name: str | None = None

    def has(self, *needed: int) -> bool:
        """Whether it is at least this version; an unknown one is taken as new."""
        return self._numbers is None or self._numbers >= needed

    @classmethod
    def of(cls, client: QdrantClient) -> ServerVersion:
        """Ask the server; raises the client's errors."""
        return cls(client.info().version)

    @property
    def _numbers(self) -> tuple[int, ...] | None:
        found = re.match(r"(\d{1,9})\.(\d{1,9})", self.name or "")
        return None if found is None else (int(found[1]), int(found[2]))

    @property
    def missing(self) -> str | None:
        """One sentence on what it lacks, or None."""
        lacks = [
            f"{what} (needs {major}.{minor})"
            for (major, minor), what in _NEEDS.items()
            if not self.has(major, minor)
        ]
        return f"Qdrant {self.name} cannot {'; '.join(lacks)}: upgrade it" if lacks else None

    def refuse_too_old(self, place: str) -> None:
        """Raise `StoreError` for a version that cannot store records."""
        if not self.has(*_OLDEST):
            needed = ".".join(map(str, _OLDEST))
            raise StoreError(f"{place} is Qdrant {self.name}: upgrade it to {needed} or later")


@frozen
class ServerLimits:
    """The limits of a collection's strict mode.

    Attributes:
        strict: limit -> its value, as Qdrant names them; empty without strict mode.
    """

    strict: Mapping[str, Any] = Factory(dict)

    @classmethod
    def of(cls, info: models.CollectionInfo, *, refuses: bool = False) -> ServerLimits:
        """Read the limits of a collection; `refuses`: filters without an index, in any case."""
        config = info.config.strict_mode_config
        given = {}
        if config is not None and config.enabled:
            given = config.model_dump(mode="json", exclude={"enabled"}, exclude_none=True)
        return cls({**given, _INDEXED_READS: False} if refuses else given)

    @property
    def all_indexed(self) -> bool:
        """Whether every filter needs an index."""
        return any(self.strict.get(key) is False for key in (_INDEXED_READS, _INDEXED_WRITES))

    @property
    def exact(self) -> bool:
        """Whether the server counts exactly."""
        return self.strict.get("search_allow_exact") is not False

    @property
    def indexes(self) -> float:
        """Payload indexes that the collection may have."""
        return float(self.strict.get("max_payload_index_count", math.inf))

    def points(self, wanted: int) -> int:
        """Points of one write, at most as many as wanted."""
        return self._least(wanted, "upsert_max_batchsize", "write_rate_limit")

    def results(self, wanted: int) -> int:
        """Results of one request, at most as many as wanted."""
        return self._least(wanted, "max_query_limit")

    def searches(self, wanted: int) -> int:
        """Searches of one request, at most as many as wanted."""
        return self._least(wanted, "search_max_batchsize", "read_rate_limit")

    def values(self, wanted: int) -> int:
        """Values of one condition, at most as many as wanted."""
        return self._least(wanted, "condition_max_size")

    def _least(self, wanted: int, *limits: str) -> int:
        return max(1, min([wanted, *(int(self.strict.get(name, wanted)) for name in limits)]))

    @property
    def described(self) -> list[str]:
        """Each limit as `NAME = VALUE`, without those that allow everything."""
        return [
            f"{name} = {json.dumps(value)}"
            for name, value in sorted(self.strict.items())
            if value is not True
        ]
