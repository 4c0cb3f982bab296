"""Bytes of an embedded store per record, by source and by part.

    python -m tests.benchmarks.store_sizes [--records 10000 100000] [--sources code commits …]

The records are those of this repository and its history; further ones repeat them with other
words. Memories are its paragraphs.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

import click
from attrs import evolve

from contextkit import ContextKit, Record
from contextkit.models.record import USER
from contextkit.store.embedded import EmbeddedStore
from tests.benchmarks.texts import ROOT, repository_texts

__all__ = ["main"]

_SOURCES = ("code", "documents", "commits", "memories")
_BATCH = 2048
_PARTS = {
    "payload_storage": "payload",
    "vector_storage-bm25": "sparse",
    "vector_index-bm25": "sparse",
    "vector_storage": "dense",
    "payload_index": "indexes",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each source and number of records."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--sources", nargs="+", choices=_SOURCES, default=_SOURCES)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        indexed = _indexed(Path(name))
    for source in given.sources:
        for number in given.records:
            with tempfile.TemporaryDirectory() as name:
                found = _sizes(Path(name), source, indexed[source], number)
            parts = ", ".join(f"{part} {size / number:,.0f}" for part, size in found.items())
            click.echo(f"{source}, {number:,} records, bytes each: {parts}")


def _open(folder: Path) -> ContextKit:
    return ContextKit.open(
        ROOT, settings={"store.path": str(folder)}, environment={"CONTEXTKIT_HOME": str(folder)}
    )


def _indexed(folder: Path) -> dict[str, list[Record]]:
    """Real records of each source."""
    with _open(folder / "store") as kit:
        kit.index(("code", "documents", "commits"))
        found = {name: list(kit.store.scan(name, None, {})) for name in _SOURCES[:3]}
    fields = {"category": "fact", "importance": 0.5, "tags": ["style"], "valid_from": "2026-03-01"}
    found["memories"] = [
        Record(id=f"mem_{n:012}", text=text[:400], fields=fields, source="memories", project=USER)
        for n, text in enumerate(repository_texts())
    ]
    return found


def _sizes(folder: Path, source: str, records: Sequence[Record], number: int) -> Counter[str]:
    with _open(folder / "store") as kit:
        store = kit.store
        made = _varied(records, number)
        while batch := list(islice(made, _BATCH)):
            store.put(batch)
        store.optimize()
        if store.count(source, None, {}) != number:
            raise click.ClickException(f"{source}: not all of {number:,} records were stored")
        path = store.path if isinstance(store, EmbeddedStore) else folder
    sizes: Counter[str] = Counter()
    for file in (each for each in path.rglob("*") if each.is_file()):
        sizes[_part(file)] += 512 * file.stat().st_blocks
    sizes["all"] = sizes.total()
    sizes["text"] = sum(len(r.searched_text.encode()) for r in islice(cycle(records), number))
    return sizes


def _part(file: Path) -> str:
    found = (part for folder in file.parts for name, part in _PARTS.items() if name in folder)
    return next(found, "rest")


def _varied(records: Sequence[Record], number: int) -> Iterator[Record]:
    """As many records, those after the first round with other words."""
    words = sorted({word for record in records for word in record.text.split()})
    rng = random.Random(1)
    for n, record in enumerate(islice(cycle(records), number)):
        if n < len(records):
            yield record
            continue
        text = " ".join(
            rng.choice(words) if rng.random() < 0.2 else w for w in record.text.split(" ")
        )
        yield evolve(record, id=f"{record.id}-{n}", text=text)


if __name__ == "__main__":
    main()
