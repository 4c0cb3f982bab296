"""A process that flips bytes of a store's copies and reads each: `damager.py STORE FLIPS SEED`.

It prints one JSON object a flip. Each copy is read in a forked child, as the engine may end the
process that opens it.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from worker import hashing, note  # type: ignore[import-not-found]

from contextkit.errors import RecordDamagedError, StoreError
from contextkit.models.record import Record, Search
from contextkit.store.base import stored_batch
from contextkit.store.embedded import EmbeddedStore

_BLOCK = 512
_MOST_BYTES = 8 * 2**30
"""A damaged length must end the child that believes it before it fills the machine's memory."""
_OF_RECORDS = ("payload_storage/page", "payload_storage/tracker.dat", "id_tracker", "wal/open-1")
"""The files that records are lost or changed by; they are damaged more often."""


@frozen
class Template:
    """The files of a store, in memory, without their holes.

    Attributes:
        sizes: file -> its length.
        blocks: file -> where a block with data begins -> the block.
    """

    sizes: dict[str, int]
    blocks: dict[str, dict[int, bytes]]

    @classmethod
    def of(cls, folder: Path) -> Template:
        """Read the files of a store that is not open."""
        sizes, blocks = {}, {}
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                data = file.read_bytes()
                name = str(file.relative_to(folder))
                sizes[name] = len(data)
                starts = range(0, len(data), _BLOCK)
                pieces = {start: data[start : start + _BLOCK] for start in starts}
                blocks[name] = {start: piece for start, piece in pieces.items() if any(piece)}
        return cls(sizes, blocks)

    def write(self, folder: Path) -> None:
        """Write a copy."""
        for name, size in self.sizes.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as stream:
                for start, block in self.blocks[name].items():
                    stream.seek(start)
                    stream.write(block)
                stream.truncate(size)

    def places(self, chance: random.Random) -> Iterator[tuple[str, int]]:
        """Files in turn, each time at another place; four of five times where data is."""
        names = [name for name in self.sizes if self.blocks[name]]
        names += 3 * [name for name in names if any(part in name for part in _OF_RECORDS)]
        while True:
            for name in names:
                place = chance.randrange(self.sizes[name])
                if chance.random() < 0.8:
                    start, block = chance.choice(list(self.blocks[name].items()))
                    place = start + chance.randrange(len(block))
                yield name, place


def as_stored(record: Record) -> list[Any]:
    """All that a record has, as JSON."""
    return [
        record.source,
        record.project,
        record.id,
        record.text,
        record.keywords,
        record.created_at.isoformat(),
        dict(record.fields),
    ]


def read(folder: Path, points: list[str]) -> dict[str, Any]:
    """Everything that a store gives, and every error that it raises."""
    store = EmbeddedStore(folder, hashing(), lock_timeout=60.0, idle_seconds=3600.0)
    errors: list[str] = []
    scanned: list[Record] = []
    got: list[Record] = []
    searched: list[Record] = []
    newest: list[Record] = []
    try:
        store.prepare()
    except StoreError as error:
        return {"errors": [f"open: {error}"]}
    try:
        scanned += store.scan(None, None, {})
    except StoreError as error:
        errors.append(f"scan: {error}")
        if isinstance(error, RecordDamagedError):
            errors += error.records
    for point in points:
        try:
            got += store.get([point])
        except StoreError as error:
            errors.append(f"get: {error}")
    try:
        for query in ("note of many", "tide"):
            question = Search(query=query, source="notes", projects=("p",), limit=100)
            searched += (hit.record for hit in store.search([question])[0])
        newest += store.newest("notes", ["p"], {}, 1000)
    except StoreError as error:
        errors.append(f"search: {error}")
    if store.problem:
        errors.append(f"problem: {store.problem}")
    found = {"scanned": scanned, "got": got, "searched": searched, "newest": newest}
    return {"errors": errors, **{key: list(map(as_stored, each)) for key, each in found.items()}}


def flip(template: Template, place: tuple[str, int], mask: int, folder: Path) -> None:
    """Write a copy and flip bits of one of its bytes."""
    template.write(folder)
    name, position = place
    with (folder / name).open("r+b") as stream:
        stream.seek(position)
        [byte] = stream.read(1)
        stream.seek(position)
        stream.write(bytes([byte ^ mask]))


def main() -> None:
    """Flip and tell, as often as asked."""
    folder, flips, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    points = json.loads(sys.stdin.readline())
    template, chance = Template.of(folder), random.Random(seed)
    places = template.places(chance)
    # Loaded once, for all the children.
    stored_batch([note("warm")], hashing().of("notes"))
    for number in range(flips):
        place, mask = next(places), chance.randrange(1, 256)
        copy = folder.with_name(f"{folder.name}-{number}")
        flip(template, place, mask, copy)
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reader)
            for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
                resource.setrlimit(kind, (_MOST_BYTES, _MOST_BYTES))
            with os.fdopen(writer, "w") as stream:
                stream.write(json.dumps(read(copy, points)))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            told = stream.read()
        _, status = os.waitpid(child, 0)
        outcome = json.loads(told) if told else {"errors": [f"ended with status {status}"]}
        said = {"file": place[0], "at": place[1], "mask": mask, **outcome}
        sys.stdout.write(f"{json.dumps(said)}\n")
        shutil.rmtree(copy)


if __name__ == "__main__":
    main()
