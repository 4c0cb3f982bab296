"""What stands for the records of a store that did not open: each use says why."""
# ruff: noqa: ARG002 - the signatures are those of `RecordStore`

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from attrs import frozen

from contextkit.errors import StoreError
from contextkit.records import Filters, Hit, Record, Search

__all__ = ["UnopenedStore"]


@frozen(eq=False)
class UnopenedStore:
    """Raises at once what opening the store raised, instead of another wait for it.

    Attributes:
        error: what it raised.
    """

    error: StoreError

    def _refuse(self) -> NoReturn:
        # A copy: the same object raised in many threads would gather all their tracebacks.
        raise type(self.error)(*self.error.args) from self.error

    def put(self, records: Sequence[Record]) -> None:
        self._refuse()

    def delete(self, point_ids: Sequence[str]) -> None:
        self._refuse()

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        self._refuse()

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        self._refuse()

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        self._refuse()

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        self._refuse()

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        self._refuse()

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        self._refuse()
