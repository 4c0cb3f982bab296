"""Memories that replace older ones without being declared to: are they first and the old marked?

    python -m tests.benchmarks.quality updates [--json FILE]

`memory_pairs.txt` has pairs that are updates and pairs whose memories both stay true. All memories
of a half are in one project, and each pair's question is asked. An update counts if its newer
memory stands before the older one, and the older one says that it is superseded. Of the compatible
pairs, those with such a mark count. The rules were tuned on the first half alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit import ContextItem, ContextKit
from contextkit_memories import MemoryBook
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean

__all__ = ["Pair", "main", "marked", "read_pairs", "report"]

_PAIRS = Path(__file__).with_name("memory_pairs.txt")
_FIRST_DAY = datetime(2026, 1, 10, tzinfo=UTC)
_LATER = timedelta(days=130)
_HALVES = ("first half", "second half")


@frozen(kw_only=True)
class Pair:
    """Two memories and a question that both may answer.

    Attributes:
        kind: what changes: values, places, owners, versions, preferences, moves.
        is_update: whether the newer one replaces the older one.
        half: 0 for the half that the rules were tuned on.
    """

    kind: str
    older: str
    newer: str
    question: str
    is_update: bool
    half: int


def read_pairs(path: Path = _PAIRS) -> list[Pair]:
    """Read the pairs; lines alternate between the halves."""
    pairs: list[Pair] = []
    section, number = "", 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section, number = line, 0
        elif line and not line.startswith("#"):
            kind, older, newer, question = line.split(" | ")
            pair = Pair(
                kind=kind,
                older=older,
                newer=newer,
                question=question,
                is_update=section == "[updates]",
                half=number % 2,
            )
            pairs.append(pair)
            number += 1
    return pairs


def marked(pairs: Sequence[Pair], folder: Path) -> list[bool]:
    """Remember the memories of some pairs, and ask their questions.

    Returns, for each pair, whether the newer one stands first and the older one is marked.
    """
    settings = {"store.path": folder / "store", "project": "pairs"}
    with ContextKit.open(folder, settings=settings, environment={}) as kit:
        book = MemoryBook.of(kit)
        ids: dict[str, str] = {}
        for number, pair in enumerate(pairs):
            at = _FIRST_DAY + timedelta(minutes=10 * number)
            ids[pair.older] = book.remember(pair.older, created_at=at).id
            ids[pair.newer] = book.remember(pair.newer, created_at=at + _LATER).id
        found = []
        for pair in pairs:
            context = kit.assemble_context_sync(pair.question, ["memories"], record_use=False)
            found.append(_is_marked(context.items, ids[pair.older], ids[pair.newer], pair))
        return found


def _is_marked(items: Sequence[ContextItem], older: str, newer: str, pair: Pair) -> bool:
    places = {item.id: place for place, item in enumerate(items)}
    if older not in places or newer not in places:
        return False
    old, new = items[places[older]], items[places[newer]]
    if not pair.is_update:
        by = {item.superseded_by.id for item in (old, new) if item.superseded_by is not None}
        return not by.isdisjoint({older, newer})
    return places[newer] < places[older] and old.superseded_by is not None


def report(pairs: Sequence[Pair], found: Sequence[bool]) -> Report:
    """Make a table of the parts that are marked, by half and kind."""
    groups: dict[str, list[tuple[Pair, bool]]] = {}
    for pair, is_marked in zip(pairs, found, strict=True):
        for name in (_HALVES[pair.half], pair.kind):
            groups.setdefault(name, []).append((pair, is_marked))
    rows = [_row(name, groups[name]) for name in (*_HALVES, *groups) if name in groups]
    return Report(title="updates: marked", rows=list({str(row): row for row in rows}.values()))


def _row(name: str, found: Sequence[tuple[Pair, bool]]) -> dict[str, Any]:
    updates = [is_marked for pair, is_marked in found if pair.is_update]
    compatible = [is_marked for pair, is_marked in found if not pair.is_update]
    return {
        "pairs": name,
        "updates": f"{mean(updates):.2f} of {len(updates)}",
        "compatible": f"{mean(compatible):.2f} of {len(compatible)}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="updates", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    given = parser.parse_args(arguments)
    pairs = read_pairs()
    found: list[bool] = []
    ordered = sorted(pairs, key=lambda pair: pair.half)
    for half in (0, 1):
        with tempfile.TemporaryDirectory() as folder:
            found += marked([pair for pair in pairs if pair.half == half], Path(folder))
    table = report(ordered, found)
    table.show()
    if given.json:
        given.json.write_text(json.dumps(table.as_dict(), indent=2) + "\n")


if __name__ == "__main__":
    main()
