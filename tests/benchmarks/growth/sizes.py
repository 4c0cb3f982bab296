"""Stores of growing numbers of records: what putting, opening and asking takes of each."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.harness import Report, percentile
from tests.benchmarks.peers.texts import ROOT

__all__ = ["growing"]


def growing(sizes: Sequence[int], cold_starts: int) -> Report:
    """A row for each number of records, and how much slower the largest store answers."""
    rows: list[dict[str, Any]] = []
    for size in sorted(sizes):
        row = _row(size, cold_starts)
        if rows:
            row["resident, B each"] = _each(rows[-1], row)
        rows.append(row)
        click.echo(f"  {size:,} records: {json.dumps(row)}", err=True)
    note = (
        "100 varied queries, 5 sources, 2,000 tokens; putting, and answering, in processes of "
        "their own; all processors. Resident: while it answers; each: what a record more than "
        "the row above takes."
    )
    return Report(title="Records in the store", rows=rows, note=note)


def _row(size: int, cold_starts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put = _run({"do": "put", "records": size}, folder)
        store = [file.stat() for file in (folder / "store").rglob("*") if file.is_file()]
        disk = sum(512 * stat.st_blocks for stat in store)
        runs = [_run({"do": "answer"}, folder) for _ in range(cold_starts)]
    last = runs[-1]
    return {
        "records": size,
        "put/s": size / put["put"],
        "put/s, optimized": size / (put["put"] + put["optimizing"]),
        "put, CPU s": put["worked"],
        "disk, B each": disk / size,
        "resident, MB": last["resident"] / 2**20,
        "resident, B each": "",
        "open, ms": 1000 * statistics.median(run["opened"] for run in runs),
        "cold, ms": 1000 * statistics.median(run["cold"] for run in runs),
        "median, ms": 1000 * statistics.median(last["seconds"]),
        "95%, ms": 1000 * percentile(last["seconds"], 95),
        "CPU, ms": 1000 * statistics.median(last["worked"]),
        "load": os.getloadavg()[0],
    }


def _each(fewer: Mapping[str, Any], more: Mapping[str, Any]) -> float:
    """Bytes of memory that one record more takes."""
    records: int = more["records"] - fewer["records"]
    megabytes: float = more["resident, MB"] - fewer["resident, MB"]
    return megabytes * 2**20 / max(records, 1)


def _run(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    task = {**task, "folder": str(folder), "started": time.monotonic()}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.growth.worker", json.dumps(task)],
        cwd=ROOT,
        env={**os.environ, "CONTEXTKIT_HOME": str(folder / "home")},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise click.ClickException(f"{task['do']} failed: {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
