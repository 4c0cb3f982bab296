"""Pasted error messages: is the function that raises one the first item of the context?

    python -m tests.benchmarks.quality errors [--repos DIR] [--most N] [--json FILE]

Each git repository in `DIR`, or this one, is asked about messages of its own: `raise Type("...")`
in Python, `throw new Type("...")` in JavaScript, TypeScript and Java, `fmt.Errorf("...")` in Go,
`raise Type, "..."` in Ruby, `bail!("...")` in Rust; tests left out. A value that the program would
put in is `x7`. Every source is on, with the defaults of the command line. Each message is asked for
with its type, as a traceback ends, alone, as a log has it, and within a prompt of several lines.
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

_LANGUAGES = (".py", ".js", ".ts", ".java", ".go", ".rb", ".rs")
_RAISES = re.compile(
    r"(?:(?:raise|throw new) (?P<type>[A-Z]\w*)(?:\(|, )|(?:fmt\.Errorf|errors\.New|bail!)\()\s*"
    r"f?(?P<quote>[\"'`])(?P<message>(?:(?!(?P=quote))[^\\\n]){12,100})(?P=quote)"
)
_VALUE = re.compile(r"[$#]?\{[^}]*\}|%[-+#]?[a-z]")
_QUOTING = re.compile(r"\{[^}]*!r\}|%[-+#]?[qr]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_WORDS = 2
_WAYS = {
    "": "{type}: {message}",
    "alone ": "{message}",
    "pasted ": "It stopped.\n\n```\n$ make run\n{type}: {message}\n```\n\nWhat now?",
}
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
            if len(_WORD.findall(_VALUE.sub(" ", raised["message"]))) < _LEAST_WORDS:
                continue
            message = _VALUE.sub("x7", _QUOTING.sub("'x7'", raised["message"]))
            line = text.count("\n", 0, raised.start()) + 1
            yield ErrorQuestion(raised["type"] or "error", message, path, line)


def _row(repository: Path, most: int) -> dict[str, object]:
    questions = questions_of(repository, most)
    settings = {"assemble.source_timeout": _SLOW_SECONDS, "assemble.deadline": _SLOW_SECONDS}
    with (
        tempfile.TemporaryDirectory() as home,
        home_in(Path(home)),
        ContextKit.open(repository, settings=settings, environment={}) as kit,
    ):
        kit.index()
        places = {way: asyncio.run(_ask(kit, questions, text)) for way, text in _WAYS.items()}
    row: dict[str, object] = {"repository": repository.name, "questions": len(questions)}
    for way, found in places.items():
        row[f"{way}first"] = _share(place == 0 for place in found)
        row[f"{way}shown"] = _share(place is not None for place in found)
    return row


def _share(found: Iterable[bool]) -> str:
    return f"{mean(map(float, found)):.3f}"


def _mean(rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the mean of all questions."""
    numbers = [int(str(row["questions"])) for row in rows]
    total: dict[str, object] = {"repository": "all", "questions": sum(numbers)}
    for name in (name for name in rows[0] if name not in total):
        whole = sum(n * float(str(row[name])) for n, row in zip(numbers, rows, strict=True))
        total[name] = f"{whole / max(1, sum(numbers)):.3f}"
    return total


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
    report = Report(title="functions that raise a pasted message", rows=[*rows, _mean(rows)])
    report.show()
    if given.json:
        given.json.write_text(json.dumps(report.as_dict(), indent=2) + "\n")


if __name__ == "__main__":
    main()
