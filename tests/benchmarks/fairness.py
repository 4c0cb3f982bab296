"""Good sources beside bad ones: how many of the good deliver, and how long a call takes.

`python -m tests.benchmarks.fairness`, or `--only "blocks the loop"` for one kind.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import structlog
from attrs import frozen

from contextkit import ContextKit, Record
from contextkit.models.context import FormattedContext
from tests.benchmarks.bad_sources import KINDS
from tests.benchmarks.harness import Report, machine, write_json
from tests.making import KEYWORDS, from_records, make_plugin

__all__ = ["GOOD", "Call", "kit_of", "main", "measured", "register_bad"]

GOOD = 25
QUERY = "when does the tide rise in the harbour?"
CALLS = 3
ALL = "all of them at once"
WAITED_FOR = "sleeps in compress"
"""Summaries have a time limit of their own, of 5 s."""
REST = "all at once but a slow summary"


@frozen
class Call:
    """One assembly.

    Attributes:
        delivered: good sources with an item in the context.
        milliseconds: how long it took.
        bad: bad source -> its state and the reason.
    """

    delivered: int
    milliseconds: float
    bad: dict[str, tuple[str, str | None]]


@contextmanager
def kit_of(folder: Path, good: int = GOOD, **settings: Any) -> Iterator[ContextKit]:
    """A kit of so many good sources, each with records in the store."""
    workspace = folder / "workspace"
    workspace.mkdir()
    with ContextKit.open(
        workspace, settings={**KEYWORDS, **settings}, environment={}, entry_points=False
    ) as kit:
        for number in range(good):
            name = f"good{number}"
            kit.register(make_plugin(contextkit_query=from_records), name)
            kit.records(name).put(
                [
                    Record(id=str(at), text=f"The tide rises in the harbour {name} at {at} o'clock")
                    for at in range(3)
                ]
            )
        yield kit


def register_bad(kit: ContextKit, kinds: Sequence[str], seconds: float) -> None:
    """Add a source of each kind."""
    for number, kind in enumerate(kinds):
        name = f"bad{number}"
        kit.register(make_plugin(**KINDS[kind](name, seconds)), name)


async def called(kit: ContextKit) -> Call:
    """Assemble once; what the call raises counts as nothing delivered."""
    started = time.perf_counter()
    try:
        context = await kit.assemble_context(QUERY, max_tokens=20_000, fill=True, compress=True)
    except Exception as error:  # noqa: BLE001 - a result of the measurement
        context = None
        click.echo(f"  the call failed: {type(error).__name__}: {error}", err=True)
    spent = 1000 * (time.perf_counter() - started)
    return Call(_delivered(context), spent, _bad(context))


def _delivered(context: FormattedContext | None) -> int:
    return sum(name.startswith("good") for name in (context.sources_used if context else ()))


def _bad(context: FormattedContext | None) -> dict[str, tuple[str, str | None]]:
    rows = context.trace.sources if context else ()
    return {row.source: (row.state, row.reason) for row in rows if row.source.startswith("bad")}


def measured(kinds: Sequence[str], seconds: float, calls: int = CALLS) -> list[Call]:
    """Ask 25 good sources beside one bad source of each of some kinds.

    One call without the bad sources comes first: what starts the store is not the subject.
    """
    with tempfile.TemporaryDirectory() as folder, kit_of(Path(folder)) as kit:

        async def run() -> list[Call]:
            await called(kit)
            register_bad(kit, kinds, seconds)
            return [await called(kit) for _ in range(calls)]

        try:
            return asyncio.run(run())
        except BaseException as error:  # noqa: BLE001 - a result of the measurement
            click.echo(f"  the loop ended: {type(error).__name__}: {error}", err=True)
            return [Call(0, float("nan"), {})] * calls


def _row(label: str, calls: Sequence[Call]) -> dict[str, Any]:
    bad = calls[-1].bad
    first = calls[0].bad
    told = next(iter(bad.values())) if len(bad) == 1 else ("", "")
    return {
        "kind": label,
        **{f"good, call {number}": call.delivered for number, call in enumerate(calls, 1)},
        **{f"ms, call {number}": round(call.milliseconds) for number, call in enumerate(calls, 1)},
        "first state": next(iter(first.values()))[0] if len(first) == 1 else "",
        "last state": told[0],
        "reason": (told[1] or "")[:80],
    }


@click.command()
@click.option("--only", multiple=True, help="A kind; may be repeated.")
@click.option("--seconds", default=10.0, help="For how long slow sources are slow.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the rows here.")
def main(only: tuple[str, ...], seconds: float, path: Path | None) -> None:
    """Measure each kind by itself, and all of them at once."""
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    rows = []
    with tempfile.TemporaryDirectory() as home:
        os.environ["CONTEXTKIT_HOME"] = home
        groups = {ALL: [*KINDS], REST: [kind for kind in KINDS if kind != WAITED_FOR]}
        for kind in only or (*KINDS, *groups):
            kinds = groups.get(kind, [kind])
            rows.append(_row(kind, measured(kinds, seconds)))
            click.echo("  ".join(str(value) for value in rows[-1].values()))
    report = Report(
        title="Good sources beside bad ones",
        rows=rows,
        note=f"{GOOD} good sources with records in a store; 0.3 s a source and 0.5 s together. "
        f"A slow source is slow for {seconds:g} s.",
    )
    report.show()
    if path:
        write_json(path, machine(), {"fairness": report})


if __name__ == "__main__":
    main()
