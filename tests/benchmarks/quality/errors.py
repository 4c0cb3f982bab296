"""Pasted error messages: is the function that raises one the first item of the context?

    python -m tests.benchmarks.quality errors [--repos DIR] [--most N] [--json FILE]

Each git repository in `DIR`, or this one, is asked about messages of its own: `raise Type("...")`
in Python, `throw new Type("...")` in JavaScript, TypeScript and Java, tests left out. A value that
the program would put in is `x7`. Every source is on, with the defaults of the command line. Each
message is asked for with its type, as a traceback ends, and alone, as a log has it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from contextkit import ContextItem, ContextKit
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.surroundings import home_in
from tests.benchmarks.texts import ROOT

__all__ = ["ErrorQuestion", "main", "questions_of"]

_LANGUAGES = (".py", ".js", ".ts", ".java")
_RAISES = re.compile(
    r"(?:raise|throw new) (?P<type>[A-Z]\w*)\(\s*"
    r"f?(?P<quote>[\"'])(?P<message>[^\"'\n]{12,100})(?P=quote)"
)
_VALUE = re.compile(r"\{[^}]*\}")
_SLOW_SECONDS = 60.0


@frozen
class ErrorQuestion:
    """An error's type and message, and the file and line that raise it."""

    type: str
    message: str
    path: str
    line: int


def questions_of(repository: Path, most: int) -> list[ErrorQuestion]:
    """Return a repository's messages, or `most` of them by chance, always the same."""
    found = list(_questions(repository))
    random.Random(0).shuffle(found)
    return found[:most]


def _questions(repository: Path) -> Iterator[ErrorQuestion]:
    command = ["git", "-C", str(repository), "ls-files"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for path in listed.splitlines():
        if not path.endswith(_LANGUAGES) or "test" in path.lower():
            continue
        text = (repository / path).read_text("utf-8", "replace")
        for raised in _RAISES.finditer(text):
            message = _VALUE.sub("x7", raised["message"])
            line = text.count("\n", 0, raised.start()) + 1
            yield ErrorQuestion(raised["type"], message, path, line)


def _row(repository: Path, most: int) -> dict[str, object]:
    questions = questions_of(repository, most)
    settings = {"assemble.source_timeout": _SLOW_SECONDS, "assemble.deadline": _SLOW_SECONDS}
    with (
        tempfile.TemporaryDirectory() as home,
        home_in(Path(home)),
        ContextKit.open(repository, settings=settings, environment={}) as kit,
    ):
        kit.index()
        typed = asyncio.run(_ask(kit, questions, "{type}: {message}"))
        alone = asyncio.run(_ask(kit, questions, "{message}"))
    return {
        "repository": repository.name,
        "questions": len(questions),
        "first": _share(place == 0 for place in typed),
        "shown": _share(place is not None for place in typed),
        "alone first": _share(place == 0 for place in alone),
        "alone shown": _share(place is not None for place in alone),
    }


def _share(found: Iterable[bool]) -> str:
    return f"{mean(map(float, found)):.3f}"


async def _ask(
    kit: ContextKit, questions: Sequence[ErrorQuestion], template: str
) -> list[int | None]:
    """Return the place of each question's function among the items, None if it is not shown."""
    found = []
    for question in questions:
        query = template.format(type=question.type, message=question.message)
        items = (await kit.assemble_context(query)).items
        places = (place for place, item in enumerate(items) if _raises(item, question))
        found.append(next(places, None))
    return found


def _raises(item: ContextItem, question: ErrorQuestion) -> bool:
    fields = item.metadata
    if item.source != "code" or fields.get("file_path") != question.path:
        return False
    return bool(fields["start_line"] <= question.line <= fields["end_line"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="errors", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repos", type=Path, help="a folder with git repositories")
    parser.add_argument("--most", type=int, default=25, help="messages of each repository")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    given = parser.parse_args(arguments)
    repositories = [ROOT] if given.repos is None else sorted(given.repos.iterdir())
    rows = [_row(each, given.most) for each in repositories if (each / ".git").exists()]
    report = Report(title="functions that raise a pasted message", rows=rows)
    report.show()
    if given.json:
        given.json.write_text(json.dumps(report.as_dict(), indent=2) + "\n")


if __name__ == "__main__":
    main()
