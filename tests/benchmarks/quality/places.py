"""Questions whose answer is in one place: is it shown, and what stands before it?

    python -m tests.benchmarks.quality places [--repos DIR] [--only setup languages] [--json FILE]

The questions (places_questions.toml) are of five sets: `setup` asks about CI, releases, linters and
deployment, `languages` about code in notebooks, components and languages that few parsers know,
`releases` about what changed in some of them, `overview` about the project as a whole, and `guides`
about how to use it.
`DIR` has a git repository for each name; those that are missing are left out, and without `--repos`
this repository is asked one question. Every source is on, with the defaults of the command line.
Halves are the questions of even and of odd places: choose on one, report the other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from contextkit import ContextItem, ContextKit
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.surroundings import home_in
from tests.benchmarks.texts import ROOT

__all__ = ["Place", "main"]

SETS = ("setup", "languages", "releases", "overview", "guides")
_TEXT = Path(__file__).with_name("places_questions.toml")
_OWN = {
    "repository": ROOT.name,
    "question": "which workflow runs the tests?",
    "file": r"\.github/workflows/",
}
_SLOW_SECONDS = 60.0
_NEAR = 300
"""Tokens before an answer that is near the top, four characters each."""


@frozen
class Place:
    """A question and the place of its answer.

    Attributes:
        name: the set.
        repository: the folder's name.
        question: the question.
        file: a pattern of the file's path.
        text: a pattern of a line that answers; "" for any.
    """

    name: str
    repository: str
    question: str
    file: str
    text: str = ""

    def is_in(self, item: ContextItem) -> bool:
        """Whether an item shows the answer."""
        place = item.location or item.id
        return bool(re.search(self.file, place) and re.search(self.text, item.content))


@frozen
class _Found:
    """Where an answer was: the place of its item, or None, and the tokens before it."""

    place: int | None
    before: int


def _read(names: Sequence[str]) -> Iterator[tuple[int, Place]]:
    sets: Mapping[str, Sequence[Mapping[str, str]]] = tomllib.loads(_TEXT.read_text("utf-8"))
    for name in names:
        for number, fields in enumerate(sets.get(name, ())):
            yield number, Place(name=name, **fields)


def _ask(kit: ContextKit, places: Sequence[Place]) -> list[_Found]:
    async def asked() -> list[_Found]:
        return [_found(p, (await kit.assemble_context(p.question)).items) for p in places]

    return asyncio.run(asked())


def _found(place: Place, items: Sequence[ContextItem]) -> _Found:
    at = next((n for n, item in enumerate(items) if place.is_in(item)), None)
    return _Found(at, sum(len(item.content) // 4 for item in items[:at]))


def _row(name: str, found: Sequence[_Found]) -> dict[str, object]:
    shown = [each for each in found if each.place is not None]
    return {
        "questions of": name,
        "number": len(found),
        "shown": f"{len(shown) / len(found):.3f}",
        "near the top": f"{sum(each.before <= _NEAR for each in shown) / len(found):.3f}",
        "first": f"{sum(each.place == 0 for each in shown) / len(found):.3f}",
        "tokens before": f"{mean(each.before for each in shown):.0f}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="places", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repos", type=Path, help="a folder with git repositories")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    given = parser.parse_args(arguments)
    folder: Path = given.repos or ROOT.parent
    asked = list(_read(given.only)) if given.repos else [(0, Place(name="setup", **_OWN))]
    asked = [one for one in asked if (folder / one[1].repository / ".git").exists()]
    found: dict[Place, _Found] = {}
    settings = {"assemble.source_timeout": _SLOW_SECONDS, "assemble.deadline": _SLOW_SECONDS}
    for repository in dict.fromkeys(place.repository for _, place in asked):
        own = [place for _, place in asked if place.repository == repository]
        with (
            tempfile.TemporaryDirectory() as home,
            home_in(Path(home)),
            ContextKit.open(folder / repository, settings=settings, environment={}) as kit,
        ):
            kit.index()
            found |= dict(zip(own, _ask(kit, own), strict=True))
    rows = []
    for name in given.only:
        for half, odd in (("even places", 0), ("odd places", 1)):
            of_half = [found[p] for n, p in asked if p.name == name and n % 2 == odd]
            rows += [_row(f"{name}, {half}", of_half)] if of_half else []
    report = Report(title="answers in one place", rows=rows, note=_misses(found))
    report.show()
    if given.json:
        given.json.write_text(json.dumps(report.as_dict(), indent=2) + "\n")


def _misses(found: Mapping[Place, _Found]) -> str:
    missed = [f"{p.repository}: {p.question}" for p, each in found.items() if each.place is None]
    return f"Not shown: {'; '.join(missed) or 'none'}."
