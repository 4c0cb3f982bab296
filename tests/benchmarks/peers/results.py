"""The figures of a run: kept in a file as they come, shown as tables and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import define

from tests.benchmarks.harness import Report
from tests.benchmarks.peers.corpus import SOURCES, Corpus
from tests.benchmarks.peers.measuring import Measured
from tests.benchmarks.peers.pictures import line_chart
from tests.benchmarks.peers.system import BUDGET, LIMIT

__all__ = ["Results"]

_COST = (
    *("processor, ms", "median, ms", "95%, ms", "cold, s", "build, s"),
    *("peak, MB", "building, MB", "disk, MB", "load"),
)
_WORTH = ("questions", "gold", "planted", "natural", "contradicted", "items", "tokens", "over")
_STEPS = ("own", "by hand", "made of")


@define
class Results:
    """What was measured of systems, a row for each corpus and system.

    Attributes:
        file: where it is kept; None: nowhere.
        machine: what it was measured on, and of which commit.
        rows: the figures.
    """

    file: Path | None
    machine: Mapping[str, Any]
    rows: list[dict[str, Any]]

    @classmethod
    def read(cls, file: Path | None, machine: Mapping[str, Any]) -> Results:
        """Begin with what a file has of the same commit."""
        rows: list[dict[str, Any]] = []
        if file is not None and file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["machine"]["commit"] == machine["commit"]:
                rows = found["rows"]
        return cls(file, machine, rows)

    def has(self, corpus: Corpus, system: str) -> bool:
        """Whether a system was measured on a corpus."""
        return any((row["corpus"], row["system"]) == (corpus.digest, system) for row in self.rows)

    def add(self, corpus: Corpus, system: str, measured: Measured) -> None:
        """Add a row, and write the file."""
        own, by_hand, packages = measured.steps
        self.rows.append(
            {
                "records": len(corpus.records),
                "corpus": corpus.digest,
                "system": system,
                "build, s": measured.build,
                "cold, s": measured.cold,
                "median, ms": measured.median,
                "95%, ms": measured.slow,
                "processor, ms": measured.processor,
                "peak, MB": measured.peak_mb,
                "building, MB": measured.build_mb,
                "disk, MB": measured.disk_mb,
                "load": measured.load,
                **attrs.asdict(measured.worth),
                "gold by tokens": dict(measured.gold),
                "own": own,
                "by hand": by_hand,
                "made of": packages,
            }
        )
        if self.file is not None:
            found = {"machine": dict(self.machine), "rows": self.rows}
            self.file.write_text(f"{json.dumps(found, indent=1)}\n", encoding="utf-8")

    def tables(self) -> Iterator[Report]:
        """Two tables for each corpus, and one of the systems' steps."""
        threads = self.machine["threads"]
        for digest in dict.fromkeys(row["corpus"] for row in self.rows):
            rows = [row for row in self.rows if row["corpus"] == digest]
            of = f"{rows[0]['records']:,} records, corpus {digest}"
            yield Report(
                title=f"{of}: time and room",
                rows=[_part(row, _COST) for row in rows],
                note=f"{len(SOURCES)} sources, at most {LIMIT} items of each, {BUDGET:,} tokens; "
                f"{threads} thread(s); medians of the cold starts and of the questions.",
            )
            yield Report(
                title=f"{of}: what the contexts hold",
                rows=[_part(row, _WORTH) | _gold_by_tokens(row) for row in rows],
                note="Planted: pairs of near copies that are both shown, all contexts together. "
                "Natural: other pairs of a ratio of 90 or more.",
            )
        steps = {row["system"]: _part(row, _STEPS) for row in self.rows}
        if steps:
            yield Report(title="Which steps are the system's own", rows=list(steps.values()))

    def pictures(self) -> dict[str, str]:
        """Pictures as SVG: time by records, and answers found by tokens."""
        times: dict[str, dict[float, float]] = {}
        for row in self.rows:
            times.setdefault(row["system"], {})[row["records"]] = row["processor, ms"]
        told = [row for row in self.rows if row["gold by tokens"]]
        most = max((row["records"] for row in told), default=0)
        found = {
            row["system"]: {float(b): 100 * share for b, share in row["gold by tokens"].items()}
            for row in told
            if row["records"] == most
        }
        return {
            "time": line_chart("Processor time of a warm answer, ms", "records", times),
            "quality": line_chart(
                f"Answers found among {most:,} records, %", "tokens", found, percent=True
            ),
        }


def _part(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in ("system", *names)}


def _gold_by_tokens(row: Mapping[str, Any]) -> dict[str, float]:
    return {f"gold, {budget}": share for budget, share in row["gold by tokens"].items()}
