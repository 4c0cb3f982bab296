"""The files at work: open, changed, edited lately; and the structure of the project."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, ContextKit, InvalidRequestError, Range, Records
from contextkit.errors import StoreBusyError
from contextkit.models.items import Detail, Style
from contextkit.testing import ToolCaller
from contextkit_workspace import contextkit_format, contextkit_source
from contextkit_workspace.finding import structure_text
from contextkit_workspace.looking import look_at

Commit = Callable[[], None]
Find = Callable[..., Awaitable[dict[str, ContextItem]]]
Git = Callable[..., str]
Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("repository")

HOUR = 3600.0
DAY = 24 * HOUR


def files_of(items: dict[str, ContextItem]) -> list[str]:
    """The paths of the file items, best first."""
    return [item.title or "" for item in items.values() if item.kind == "file"]


GENERATED = {f"gen/f{number}.py": 3 * HOUR for number in range(60)}
SHOP = {"src/lamp_shop.py": HOUR}


@pytest.mark.parametrize(
    ("settings", "written", "is_committed", "query", "shown"),
    [
        ({}, {"src/shelf/restock_items.py": 0}, False, "why does restocking an item fail?", ...),
        ({}, {"src/shelf/priceList.py": 0}, False, "the list of prices", ...),
        ({}, {"notes/old.py": 90 * DAY}, False, "what is in the old notes?", ...),
        ({}, SHOP, True, "what does a lamp cost?", []),
        ({}, SHOP, True, "what is in lamp_shop.py?", ...),
        ({}, SHOP, True, "what was I working on?", ["contextkit.toml", "src/lamp_shop.py"]),
        ({"days": 1}, {"old.py": 2 * DAY}, True, "recently edited files", ["contextkit.toml"]),
        ({}, GENERATED, True, "recently edited", ["contextkit.toml"]),
    ],
    ids=[
        "words of an identifier",
        "in another number",
        "a changed file is at work however old",
        "other sources show what is committed",
        "but where it is named",
        "or asked for",
        "the settings say what is recent",
        "what a program wrote at once is not edited",
    ],
)
async def test_which_files_are_shown(
    commit: Commit,
    write: Write,
    find: Find,
    written: dict[str, float],
    is_committed: bool,
    query: str,
    shown: Any,
) -> None:
    """Those that the question names or asks for; each is written so many seconds ago."""
    for path, age in written.items():
        write(path, edited=time.time() - age)
    if is_committed:
        commit()

    assert files_of(await find(query)) == (list(written) if shown is ... else shown)


async def test_a_file_that_is_named_comes_first(write: Write, find: Find) -> None:
    """Before one whose path has more of the other words."""
    write("tests/test_broken_import.py")
    write("src/lamp.py")
    items = await find("why does the import of lamp.py break the test?")
    assert files_of(items)[0] == "src/lamp.py"
    assert files_of(await find("is it in clamp.py.bak?")) == []


async def test_any_time_that_a_file_has_is_one_of_the_calendar(tmp_path: Path) -> None:
    """A program can set what it likes, where the file system keeps that."""
    with tempfile.TemporaryDirectory(dir=_keeps_any_time(tmp_path)) as folder:
        for name, seconds in (("late", 1e12), ("early", -1e12)):
            (Path(folder) / name).touch()
            os.utime(Path(folder) / name, (seconds, seconds))
        times = (await look_at(Path(folder))).times
    assert times["early"] == 0
    assert datetime.fromtimestamp(times["late"], UTC) > datetime.now(UTC)


def _keeps_any_time(otherwise: Path) -> Path:
    """A folder in memory where there is one: other file systems have calendars of their own."""
    in_memory = Path("/dev/shm")  # noqa: S108 - a folder of one's own is made in it
    return in_memory if os.access(in_memory, os.W_OK) else otherwise


async def test_who_asks_what_is_at_work_gets_the_newest_first(
    repository: Path, commit: Commit, write: Write, find: Find
) -> None:
    """Whatever they are called; each says what git knows of it."""
    now = time.time()
    write("a.py", edited=now - 30 * HOUR)
    write("b.py", edited=now - 2 * HOUR)
    write("c.py", edited=now - 9 * DAY)
    commit()
    write("d.py", edited=now - HOUR)
    items = await find("what was edited recently?")
    assert files_of(items) == ["contextkit.toml", "d.py", "b.py", "a.py"]
    newest, second, _, last = (items[f"file:{path}"].relevance for path in files_of(items))
    assert newest > second > last
    day = datetime.fromtimestamp(now - HOUR, UTC)
    assert items["file:d.py"].content == f"File: d.py: untracked, edited {day:%Y-%m-%d %H:%M} UTC"
    assert items["file:d.py"].created_at == datetime.fromtimestamp(
        (repository / "d.py").stat().st_mtime, UTC
    )
    assert items["file:d.py"].location == "d.py"


@pytest.mark.parametrize("settings", [{"open_files": ["src/lamp.py", "gone.py", "../out.py"]}])
async def test_files_that_the_settings_call_open_are_at_work(
    commit: Commit, write: Write, find: Find
) -> None:
    """Those that there are; before others of the same time."""
    for name in ("src/lamp.py", "src/other.py"):
        write(name, edited=time.time() - 30 * DAY)
    commit()
    items = await find("which open files do I have?")
    assert files_of(items)[0] in {"src/lamp.py", "contextkit.toml"}
    assert items["file:src/lamp.py"].content.startswith("File: src/lamp.py: open, edited ")
    assert "file:src/other.py" not in items


async def test_an_agent_reports_open_files(
    repository: Path, commit: Commit, write: Write, find: Find, kit: ContextKit
) -> None:
    """The last report counts; an empty one takes it back."""
    for name in ("src/lamp.py", "src/shelf.py"):
        write(name, edited=time.time() - 30 * DAY)
    commit()
    call = ToolCaller(kit)

    async def report(*files: str) -> Any:
        return (await call("report_open_files", files=list(files))).data

    assert await report("src/shelf.py") == {"open_files": ["src/shelf.py"]}
    absolute = str(repository / "src" / "lamp.py")
    assert await report(absolute, "./src/lamp.py") == {"open_files": ["src/lamp.py"]}
    assert "file:src/lamp.py" in await find("the lamp")
    assert await find("the shelf") == {}
    assert await report() == {"open_files": []}
    assert await find("the lamp") == {}
    for wrong in ("/etc/passwd", "../a.py", "", "a\nb"):
        with pytest.raises(InvalidRequestError, match="not the path of a file in the workspace"):
            await report(wrong)
    with pytest.raises(InvalidRequestError, match="200 at most"):
        await report(*["a"] * 201)


async def test_a_report_of_yesterday_is_forgotten(
    commit: Commit, write: Write, find: Find, kit: ContextKit
) -> None:
    """Nobody said that the files were closed."""
    write("src/lamp.py", edited=time.time() - 30 * DAY)
    commit()
    await ToolCaller(kit)("report_open_files", files=["src/lamp.py"])
    records = kit.records("workspace")
    (record,) = records.get("open-files")
    records.put([evolve(record, created_at=record.created_at - timedelta(days=2))])
    assert await find("the lamp") == {}


async def test_a_store_that_fails_costs_only_the_report(
    write: Write, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of the workspace is not stored."""
    write("src/lamp.py")

    def busy(*_: object) -> None:
        raise StoreBusyError("busy")

    monkeypatch.setattr(Records, "get", busy)
    assert files_of(await find("the lamp")) == ["src/lamp.py"]


async def test_filters_hold_for_what_is_not_stored(write: Write, find: Find) -> None:
    """A field that an item has not does not match."""
    write("src/lamp.py", edited=time.time() - 3 * DAY)
    query = "what am I working on, and the structure of the lamp"
    assert set(await find(query, filters={"kind": "status"})) == {"status"}
    assert set(await find(query, filters={"kind": ["structure"]})) == {"structure"}
    since = Range(gte=datetime.now(UTC) - timedelta(days=1))
    recent = await find(query, filters={"created_at": since, "kind": "file"})
    assert files_of(recent) == ["contextkit.toml"]
    assert await find(query, filters={"language": "python"}) == {}


async def test_the_structure_is_shown_to_who_asks_for_it(write: Write, find: Find) -> None:
    """To two levels, by git's files."""
    for path in ("src/a/b/c.py", "src/d.py", "docs/e.md", ".gitignore", "build/x.o"):
        write(path, "build/\n")
    items = await find("how is the code base organised?")
    assert items["structure"].content == (
        "Project structure:\n5 files, 2 of them at the root\n"
        "docs/ (1 file)\nsrc/ (2 files)\n  a/ (1 file)"
    )
    assert "structure" not in await find("why is the lamp green?")


def test_of_many_folders_the_largest_are_shown() -> None:
    """Those of the highest level first, and how many more there are."""
    paths = [f"top{n:02}/in/f{m}" for n in range(45) for m in range(n + 1)]
    lines = structure_text(paths, 2).split("\n")
    assert lines[0] == "1,035 files, 0 of them at the root"
    assert (lines[1], lines[-2]) == ("top05/ (6 files)", "top44/ (45 files)")
    assert lines[-1] == "... and 50 more folders"


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
async def test_a_shortened_structure_keeps_the_parents(
    write: Write, kit: ContextKit, style: Style
) -> None:
    """Folders of lower levels, and those with few files, are left out first."""
    for number in range(1, 10):
        for file in range(number):
            write(f"top{number}/in{number}/f{file}.py")
    folders: list[str] = []
    for room in (60, 90, 120):
        context = await kit.assemble_context(
            "how is the folder in8 organised?", ["workspace"], max_tokens=room, style=style
        )
        assert "\n..." in context.markdown
        folders = re.findall(r"^ *(\w+)/ \(", context.markdown, re.MULTILINE)
        assert "top9" in folders
        assert {name.replace("in", "top") for name in folders} <= {*folders}
    assert "top1" in folders


def made(content: str, kind: str) -> ContextItem:
    """An item as the source makes them."""
    return ContextItem("workspace", content, 0.5, id="x", kind=kind)


@pytest.mark.parametrize(
    ("kind", "style", "detail", "text"),
    [
        ("file", "markdown", "full", "**File**: \\_a\\_.py: open"),
        ("file", "markdown", "compact", "- File: \\_a\\_.py: open"),
        ("file", "xml", "full", '<workspace kind="file">\n_a_.py: open\n</workspace>'),
        ("file", "plain", "full", "File: _a_.py: open"),
        ("status", "markdown", "full", "**Git status**\n```\n_a_.py: open\nb\n```"),
        ("status", "plain", "full", "Git status:\n_a_.py: open\nb"),
        ("status", "xml", "compact", '<workspace kind="status">_a_.py: open b</workspace>'),
        ("structure", "plain", "compact", "Project structure: _a_.py: open b"),
    ],
)
def test_how_an_item_is_shown(kind: str, style: Style, detail: Detail, text: str) -> None:
    """In each style, whole and on one line."""
    item = made("_a_.py: open" if kind == "file" else "_a_.py: open\nb", kind)
    assert contextkit_format([item], style, detail) == [text]


def test_a_summary_has_eight_lines() -> None:
    """And says that there are more."""
    item = made("\n".join(f"line {number}" for number in range(10)), "structure")
    (text,) = contextkit_format([item], "plain", "summary")
    assert text.split("\n")[-2:] == ["line 7", "..."]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"day": 1},
            "day: the source workspace has no such setting; it has days, depth, open_files; "
            "did you mean days?",
        ),
        ({"days": 0}, "days: must be a number over 0 to 36,500, got 0"),
        ({"days": True}, "days: must be a number over 0 to 36,500, got True"),
        ({"depth": 1.5}, "depth: must be a whole number from 1 to 10, got 1.5"),
        ({"open_files": "a"}, "open_files: must be a list of texts, got 'a'"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], problem: str) -> None:
    """With what would be right."""
    assert list(contextkit_source().setting_problems("workspace", settings)) == [problem]
