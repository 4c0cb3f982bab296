"""Prompts to hooks while other processes keep the machine busy."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.benchmarks.harness import Report, percentile
from tests.benchmarks.hook_place import Place, resident
from tests.benchmarks.starting import Samples

__all__ = ["beside_busy_loops"]

_PROMPTS, _STARTS = 50, 3
_EVENTS, _PAUSE_SECONDS = 15, 1.0

_FIRST = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper")
_SECOND = ("quay", "mouth", "wick", "stead", "haven")


_STORE = """
import json, sys
from contextkit import ContextKit, Record
with ContextKit.open() as kit:
    fields = {"category": "facts", "importance": 0.5, "tags": [], "anchors": []}
    texts = enumerate(json.load(sys.stdin))
    records = [Record(id=f"mem_{n:012}", text=text, fields=fields) for n, text in texts]
    kit.records("memories").put(records)
"""


def beside_busy_loops(place: Place, loops: int) -> Report:
    """Ask for one memory after the other; each answer must have the right one."""
    harbours = [one + two for two in _SECOND for one in _FIRST]
    harbours = harbours[: 2 if place.small else _PROMPTS]
    _remember(place, harbours)
    quiet, busy, first, later = Samples(), Samples(), Samples(), Samples()
    with resident(place):
        for harbour in harbours:
            quiet.take(partial(_is_told, place, harbour))
        with _busy(loops):
            for harbour in harbours:
                busy.take(partial(_is_told, place, harbour))
        opened = _open_breakers(place)
    with _busy(loops):
        for harbour in harbours[:_STARTS]:
            place.run([place.script("contextkit"), "serve", "--stop"])
            _first_of_a_session(place, harbour, first, later)
    place.run([place.script("contextkit"), "serve", "--stop"])
    rows = {
        "no loops, resident process": quiet,
        "loops, resident process": busy,
        "loops, nothing started": first,
        "the same, until the context came": later,
    }
    return Report(
        title=f"Prompts beside {loops} busy loops",
        rows=[_row(name, samples) for name, samples in rows.items()],
        note=f"logged: {_logged(place)}; sources skipped at the end: {opened or 'none'}",
    )


def _row(name: str, samples: Samples) -> Mapping[str, Any]:
    wall = samples.wall
    return {
        "prompts": name,
        "asked": len(wall),
        "right": len(wall) - samples.wrong,
        "median, ms": 1000 * percentile(wall, 50),
        "95th percentile, ms": 1000 * percentile(wall, 95),
        "longest, ms": 1000 * max(wall),
    }


def _is_told(place: Place, harbour: str) -> bool:
    return f"{harbour} opens" in place.tell(place.hook, place.new_session(), _question(harbour))


def _question(harbour: str) -> str:
    return f"When does {harbour} open in winter?"


def _first_of_a_session(place: Place, harbour: str, first: Samples, later: Samples) -> None:
    """Send the first prompt of a session, and then read files until its context comes."""
    session, said = place.new_session(), f"{harbour} opens"
    began = time.perf_counter()
    told: list[str] = []

    def ask() -> bool:
        told.append(place.tell(place.hook, session, _question(harbour)))
        return said in told[0]

    first.take(ask)
    for _ in range(_EVENTS):
        if said in told[-1]:
            break
        time.sleep(_PAUSE_SECONDS)
        told.append(place.tell(place.hook, session))
    later.wall.append(time.perf_counter() - began)
    later.wrong += said not in told[-1]


def _remember(place: Place, harbours: list[str]) -> None:
    """Store a memory of each harbour."""
    texts = [
        f"In winter {harbour} opens at {number % 12}:{number % 60:02}, after the tide"
        for number, harbour in enumerate(harbours)
    ]
    place.run([str(place.python), "-c", _STORE], json.dumps(texts))


def _open_breakers(place: Place) -> str:
    rows = json.loads(place.run([place.script("contextkit"), "sources", "--json"]))
    return ", ".join(row["name"] for row in rows if row.get("left_alone"))


def _logged(place: Place) -> str:
    log = place.home / "hooks" / "hooks.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    events = Counter(json.loads(line)["event"] for line in lines)
    return ", ".join(f"{event} {count}" for event, count in events.items()) or "nothing"


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    """Keep so many processes busy for as long as this lasts."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
