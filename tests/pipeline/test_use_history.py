"""What was chosen before: how a signal rises and fades, and what it may do to a context."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextKit, FormattedContext, InvalidRequestError
from contextkit.errors import UseHistoryError
from contextkit.pipeline.usage import UseHistory, history_of
from tests.making import KEYWORDS, Clock, OpenKit, make_source

DAY = 86_400.0
A, B, C = ("memories", "a"), ("memories", "b"), ("code", "src/x.py::f:1")


@pytest.fixture
def clock() -> Clock:
    """The history's."""
    return Clock(1_800_000_000.0)


@pytest.fixture
def history(tmp_path: Path, clock: Clock) -> UseHistory:
    """One without a file yet, with a half-life of ten days."""
    return UseHistory(tmp_path / "folder" / "history.sqlite", 10.0, timeout=30.0, clock=clock)


# -- signals --------------------------------------------------------------------------------


def test_what_is_used_counts_more_than_what_is_shown(history: UseHistory) -> None:
    """Shown: a tenth of the way to one half; used: half of the way to one. By project."""
    history.shown("p", [A], "how?")
    history.used("p", [B])
    history.shown("other", [C], "how?")
    assert history.signals("p", [A, B, C]) == pytest.approx({A: 0.05, B: 0.5})
    history.shown("p", [A, B], "why?")
    history.used("p", [B, B])
    assert history.signals("p", [A, B]) == pytest.approx({A: 0.05 + 0.1 * 0.45, B: 0.75})


def test_a_signal_halves_with_time(history: UseHistory, clock: Clock) -> None:
    """And rises again from where it is then; a clock that goes back changes nothing."""
    history.used("p", [A])
    clock.now += 10 * DAY
    assert history.signals("p", [A]) == pytest.approx({A: 0.25})
    history.shown("p", [A], "how?")
    assert history.signals("p", [A]) == pytest.approx({A: 0.25 + 0.1 * 0.25})
    clock.now -= 100 * DAY
    assert history.signals("p", [A]) == pytest.approx({A: 0.275})


def test_a_signal_saturates(history: UseHistory) -> None:
    """What is only shown stays under one half however often, and whatever is used under one."""
    for number in range(100):
        history.shown("p", [A], f"question {number}")
    assert 0.499 < history.signals("p", [A])[A] <= 0.5
    for _ in range(100):
        history.used("p", [B])
    assert 0.999 < history.signals("p", [B])[B] <= 1
    history.shown("p", [B], "how?")
    assert history.signals("p", [B])[B] > 0.999


def test_a_repeated_request_is_no_news(history: UseHistory) -> None:
    """It raises only what it did not show the last time."""
    for _ in range(50):
        history.shown("p", [A], "how?")
    history.shown("p", [A, B], "how?")
    assert history.signals("p", [A, B]) == pytest.approx({A: 0.05, B: 0.05})
    history.used("p", [A])
    history.shown("p", [A], "how?")
    assert history.signals("p", [A]) == pytest.approx({A: 0.525})


def test_the_oldest_go_where_there_are_too_many(history: UseHistory, clock: Clock) -> None:
    """Of the project that has too many: a busy one leaves the others' alone."""
    small = UseHistory(history.file, max_items=5, clock=clock)
    small.used("quiet", [A, B])
    for number in range(12):
        clock.now += 1
        small.used("busy", [("memories", str(number))])
    left = [chosen.id for chosen in small.listed("busy")]
    assert sorted(left, key=int) == ["7", "8", "9", "10", "11"]
    assert [chosen.id for chosen in small.listed("quiet")] == ["a", "b"]


def test_they_are_listed_and_forgotten_by_project(history: UseHistory, clock: Clock) -> None:
    """The strongest first, with any id; what is forgotten is gone."""
    odd = ("memories", "half a pair \ud800: and more")
    history.used("p", [C, odd])
    history.used("q", [A])
    history.used("p", [odd])
    found = history.listed("p")
    assert [(one.source, one.signal, one.at) for one in found] == [
        ("memories", 0.75, clock.now),
        ("code", 0.5, clock.now),
    ]
    assert found[1].id == "src/x.py::f:1"
    assert history.signals("p", [odd]) == {odd: 0.75}
    assert history.clear("p") == 2
    assert history.signals("p", [C]) == {}
    assert history.signals("q", [A]) == {A: 0.5}


# -- its file -------------------------------------------------------------------------------


def test_a_broken_file_is_an_error_until_it_is_cleared(history: UseHistory) -> None:
    """Reading, writing and listing say so; clearing removes it."""
    history.file.parent.mkdir()
    history.file.write_text("This is not a database, whatever its name says. " * 100)
    calls: list[Callable[[], object]] = [
        lambda: history.signals("p", [A]),
        lambda: history.shown("p", [A], "how?"),
        lambda: history.used("p", [A]),
        lambda: history.listed("p"),
    ]
    for call in calls:
        with pytest.raises(UseHistoryError, match=r"history\.sqlite: file is not a database"):
            call()
    assert history.clear("p") == 0
    history.used("p", [A])
    assert history.signals("p", [A]) == {A: 0.5}


def test_a_file_that_cannot_be_looked_up_is_an_error(tmp_path: Path) -> None:
    """As in a folder that is somebody else's; here, a name that no file system has."""
    history = UseHistory(tmp_path / ("h" * 300))
    calls: list[Callable[[], object]] = [
        lambda: history.signals("p", [A]),
        lambda: history.listed("p"),
        lambda: history.clear("p"),
    ]
    for call in calls:
        with pytest.raises(UseHistoryError, match="name too long"):
            call()


def test_a_locked_file_is_waited_for_no_longer_than_that(history: UseHistory) -> None:
    """Then it is an error, also for clearing, and the file stays."""
    history.used("p", [A])
    hasty = UseHistory(history.file, timeout=0.01)
    other = sqlite3.connect(history.file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for call in (lambda: hasty.signals("p", [A]), lambda: hasty.clear("p")):
        with pytest.raises(UseHistoryError, match="database is locked"):
            call()
    other.execute("ROLLBACK")
    other.close()
    assert history.listed("p")[0].id == "a"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """As where a file is in its place."""
    (tmp_path / "file").write_text("here")
    with pytest.raises(UseHistoryError, match=r"history\.sqlite"):
        UseHistory(tmp_path / "file" / "history.sqlite").used("p", [A])
    (tmp_path / "history.sqlite").mkdir()
    with pytest.raises(UseHistoryError, match="unable to open database file"):
        UseHistory(tmp_path / "history.sqlite").clear("p")


def test_several_processes_lose_nothing(history: UseHistory) -> None:
    """Each adds to items that all share, and writes items of its own."""
    code = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from contextkit.pipeline.usage import UseHistory

        history = UseHistory(Path(sys.argv[1]), timeout=60.0, clock=lambda: 1_800_000_000.0)
        print("ready", flush=True)
        sys.stdin.readline()
        history.shown("p", [("all", str(number)) for number in range(200)], sys.argv[2])
        for number in range(20):
            history.used("p", [("own", f"{sys.argv[2]} {number}")])
        """
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(history.file), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    # All of them begin when the last one is ready.
    assert [process.stdout.readline() for process in running if process.stdout] == ["ready\n"] * 3
    for process in running:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0, 0, 0]
    found = {(one.source, one.id): one.signal for one in history.listed("p")}
    assert len(found) == 260
    shared = [found["all", str(number)] for number in range(200)]
    assert shared == pytest.approx([0.5 * (1 - 0.9**3)] * 200)


# -- in contexts ----------------------------------------------------------------------------


def items(*given: tuple[str, float]) -> list[ContextItem]:
    """Items of those ids and relevances, no two alike."""
    return [
        ContextItem(
            "notes", f"{name} {' '.join(name[0] + str(n) for n in range(9))}", relevance, id=name
        )
        for name, relevance in given
    ]


@pytest.fixture
def open_notes(open_kit: OpenKit) -> Callable[..., ContextKit]:
    """Opens a kit whose source finds some items: `open_notes(("a", 0.9), …)`."""

    def open_one(*found: tuple[str, float], **settings: Any) -> ContextKit:
        plugin = make_source(items(*found))
        return open_kit({"notes": plugin}, settings={**KEYWORDS, **settings})

    return open_one


def ids(context: FormattedContext) -> list[str]:
    """What is in it, in order."""
    return [item.id for item in context.items]


async def test_what_was_chosen_comes_first_of_equals(open_notes: OpenKit) -> None:
    """Where the strategy counts it, and with the signal in the trace."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.8))
    assert ids(await kit.assemble_context("x")) == ["alpha", "beta"]
    kit.mark_used([("notes", "beta")])
    assert "history" not in (await kit.assemble_context("x")).trace.stages
    context = await kit.assemble_context("x", strategy="conversation")
    assert context.trace.stages["history"] > 0
    assert ids(context) == ["beta", "alpha"]
    assert [row.scores["history"] for row in context.trace.items] == pytest.approx(
        [0.5, 0.0], abs=1e-3
    )
    assert ids(await kit.assemble_context("x")) == ["alpha", "beta"]


async def test_by_default_nothing_is_read_or_written(open_notes: OpenKit) -> None:
    """There is no file; the same request gives the same text."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.7))
    first = await kit.assemble_context("x")
    assert not history_of(kit.config).file.exists()
    kit.mark_used(first)
    history_of(kit.config).file.write_text("broken " * 1000)
    again = await kit.assemble_context("x")
    assert (again.markdown, again.trace.notes) == (first.markdown, ())


async def test_a_context_that_is_handed_out_counts_as_chosen(open_notes: OpenKit) -> None:
    """Not what did not fit into it, and not what was only explained or asked not to count."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.7), ("useless", 0.01))
    options: dict[str, Any] = {"strategy": "conversation"}
    await kit.explain_item("alpha", "x", **options)
    await kit.assemble_context("x", record_use=False, **options)
    history = history_of(kit.config)
    assert history.listed(kit.project) == []
    for _ in range(3):
        await kit.assemble_context("x", **options)
    found = {one.id: one.signal for one in history.listed(kit.project)}
    assert found == pytest.approx({"alpha": 0.05, "beta": 0.05}, abs=1e-3)


async def test_an_update_counts_what_came_in_by_it(open_notes: OpenKit) -> None:
    """Once, as the same request would; not where the request is asked not to count."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.7))
    (new,) = items(("gamma", 0.9))
    options: dict[str, Any] = {"strategy": "conversation"}
    uncounted = await kit.assemble_context("x", record_use=False, **options)
    await kit.update_context(uncounted, new)
    history = history_of(kit.config)
    assert history.listed(kit.project) == []
    context = await kit.assemble_context("x", **options)
    for _ in range(2):
        context = await kit.update_context(context, new)
        found = {one.id: one.signal for one in history.listed(kit.project)}
        assert found == pytest.approx({"alpha": 0.05, "beta": 0.05, "gamma": 0.05}, abs=1e-3)


async def test_used_items_are_given_as_a_context_as_items_or_by_name(open_notes: OpenKit) -> None:
    """All of them count once; anything else is refused."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.7))
    context = await kit.assemble_context("x")
    kit.mark_used(context)
    kit.mark_used(context.items[:1])
    kit.mark_used([("notes", "gamma")])
    found = {one.id: one.signal for one in history_of(kit.config).listed(kit.project)}
    assert found == pytest.approx({"alpha": 0.75, "beta": 0.5, "gamma": 0.5}, abs=1e-3)
    for wrong in (["alpha"], [("notes",)], [("notes", 5)], [None]):
        with pytest.raises(InvalidRequestError, match="expected an item, or its source and its id"):
            kit.mark_used(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="expected a context, or items of one, got 5"):
        kit.mark_used(5)  # type: ignore[arg-type]


async def test_a_history_that_is_off_is_left_alone(open_notes: OpenKit) -> None:
    """Nothing is written, and nothing counts, whatever the strategy."""
    kit = open_notes(("alpha", 0.8), **{"history.enabled": False})
    kit.mark_used([("notes", "alpha")])
    context = await kit.assemble_context("x", strategy="conversation")
    assert context.trace.items[0].scores["history"] == 0
    assert not history_of(kit.config).file.exists()


async def test_a_broken_history_costs_only_its_signal(open_notes: OpenKit) -> None:
    """One note and one warning; the context is as if nothing had been chosen."""
    kit = open_notes(("alpha", 0.8), ("beta", 0.7))
    history_of(kit.config).file.parent.mkdir(parents=True, exist_ok=True)
    history_of(kit.config).file.write_text("broken " * 1000)
    with capture_logs() as logs:
        context = await kit.assemble_context("x", strategy="conversation")
    assert ids(context) == ["alpha", "beta"]
    (note,) = context.trace.notes
    assert note.startswith("usage history is ignored: ")
    assert [entry["event"] for entry in logs].count("use_history_failed") == 1
    with capture_logs() as logs:
        kit.mark_used(context)
    assert [entry["event"] for entry in logs] == ["use_history_failed"]


async def test_a_history_that_cannot_be_written_is_noted(open_notes: OpenKit) -> None:
    """The context is there all the same."""
    kit = open_notes(("alpha", 0.8))
    other = history_of(kit.config)
    other.used(kit.project, [A])
    with sqlite3.connect(other.file, isolation_level=None) as database:
        # Others may read while one is about to write.
        database.execute("BEGIN IMMEDIATE")
        context = await kit.assemble_context("x", strategy="conversation")
        database.execute("ROLLBACK")
    database.close()
    assert ids(context) == ["alpha"]
    assert [note for note in context.trace.notes if "database is locked" in note]


async def test_what_was_shown_a_hundred_times_does_not_bury_a_better_match(
    open_notes: OpenKit,
) -> None:
    """Shown alone for a hundred questions it is worth an eighth of a match, used twice that."""
    kit = open_notes(("better", 0.8), ("favourite", 0.65))
    history = history_of(kit.config)
    for number in range(100):
        history.shown(kit.project, [("notes", "favourite")], f"question {number}")
    context = await kit.assemble_context("x", strategy="conversation")
    assert ids(context) == ["better", "favourite"]
    for _ in range(100):
        history.used(kit.project, [("notes", "favourite")])
    assert ids(await kit.assemble_context("y", strategy="conversation"))[0] == "favourite"
    kit = open_notes(("better", 0.8), ("favourite", 0.54))
    assert ids(await kit.assemble_context("z", strategy="conversation"))[0] == "better"


async def test_the_same_request_comes_to_rest(open_notes: OpenKit) -> None:
    """A budget for one of two near matches: however often it is asked, the better one stays."""
    kit = open_notes(("better", 0.8), ("other", 0.79))
    # The first time both are in; afterwards there is room for the best alone.
    await kit.assemble_context("x", strategy="conversation")
    texts = {
        (await kit.assemble_context("x", strategy="conversation", max_tokens=60)).markdown
        for _ in range(30)
    }
    assert len(texts) == 1
    assert "better" in texts.pop()


def test_nothing_is_noted_of_no_item(history: UseHistory) -> None:
    """There is no file after that either."""
    history.shown("p", [], "how?")
    history.used("p", [])
    assert history.clear("p") == 0
    assert not history.file.exists()
