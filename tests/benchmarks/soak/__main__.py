"""Eight processes and two background servers on one embedded store.

`python -m tests.benchmarks.soak --minutes 30`
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.harness import Report, percentile, write_json
from tests.benchmarks.soak.actors import Actors, Calls
from tests.benchmarks.soak.place import Place

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it, print the table, and exit with 1 if anything is wrong."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as name:
        place = Place(Path(name), given.python, given.files)
        place.make()
        actors = Actors(place)
        loops = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.busy)
        ]
        try:
            actors.start()
            actors.over.wait(given.minutes * 60)
            actors.end()
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        for user in ("a", "b"):
            place.run(user, [place.script("contextkit"), "serve", "--stop"])
        report = _table(actors.calls)
        report.show()
        for wrong in actors.calls.failed[:12]:
            print(wrong)
        print("stored", len(actors.calls.stored), "answered", actors.calls.answered)
        lost = _lost(place, actors.calls)
        print("lost", lost)


def _lost(place, calls):
    import json

    out = place.folder / "end.jsonl"
    ran = place.run("a", [place.script("contextkit"), "export", str(out)])
    print(ran.stderr)
    found = {}
    for line in out.read_text().splitlines()[1:]:
        r = json.loads(line)
        if r["source"] == "memories":
            found[r["id"]] = r["text"]
    return [m for m, t in calls.stored.items() if m not in calls.forgotten and found.get(m) != t], [
        m for m in calls.forgotten if m in found
    ]


def _table(calls: Calls) -> Report:
    rows = [
        {
            "call": name,
            "calls": len(seconds),
            "failed": sum(wrong.startswith(f"{name}: ") for wrong in calls.failed),
            "median, s": statistics.median(seconds),
            "95th percentile, s": percentile(seconds, 95),
            "longest, s": max(seconds),
        }
        for name, seconds in sorted(calls.seconds.items())
    ]
    return Report(title="Calls", rows=rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    return parser


if __name__ == "__main__":
    main()
