"""Push, pop with a result, peek and path, on a real store."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextKit, InvalidRequestError, Record, Records
from contextkit.testing import open_records, run_together
from contextkit_tasks import EmptyStackError, InvalidTaskError, TaskStack
from contextkit_tasks.frame import MAX_GOAL, MAX_TEXT

# Enough that the processes change places several times (`contextkit.store.turns`).
EACH = 15
PUSHES = """
import sys
from datetime import UTC, datetime
import contextkit_tasks
from contextkit import ContextKit
from contextkit_tasks import TaskStack

with ContextKit.open(sys.argv[1], settings={"embedding.model": "none"}, entry_points=False) as kit:
    kit.register(contextkit_tasks, "tasks")
    records = kit.records("tasks")

    def slow_clock():
        # Between the look and the write others get many chances to take the store.
        counted = [records.count() for _ in range(400)]
        return datetime.now(UTC)

    stack = TaskStack(records, "race", kit.store.hold, slow_clock)
    stack.peek()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        stack.push(f"{sys.argv[2]} {number}")
"""
POPS = PUSHES.replace(
    'stack.push(f"{sys.argv[2]} {number}")', 'stack.pop(f"{sys.argv[2]} {number}")'
)


def goals(frames: list[Any]) -> list[str]:
    """The goals of frames, in their order."""
    return [frame.goal for frame in frames]


def test_tasks_are_pushed_and_popped_in_turn(stack: TaskStack) -> None:
    """The last that was pushed is current; its parent is what was current before."""
    assert stack.peek() is None
    assert stack.path() == []
    release = stack.push("Make the release")
    test = stack.push("Fix the test", detail="test_wheel")
    assert stack.peek() == test
    assert (release.depth, release.parent) == (0, None)
    assert (test.depth, test.parent, test.status, test.result) == (1, release.id, "active", None)
    assert stack.path() == [release, test]
    assert [frame.children for frame in stack.path()] == [(test.id,), ()]
    ended = stack.pop("A path was joined by hand")
    assert (ended.id, ended.status, ended.result) == (
        test.id,
        "complete",
        "A path was joined by hand",
    )
    assert stack.peek() == release
    assert stack.children(release.id) == [ended]
    notes = stack.push("Write the notes")
    stack.pop("Written")
    assert stack.current().children == (test.id, notes.id)
    assert stack.list()[-1].as_dict()["children"] == [test.id, notes.id]
    assert stack.pop("Released").children == (test.id, notes.id)
    assert stack.peek() is None


def test_a_popped_task_keeps_its_result_and_loses_its_detail(
    stack: TaskStack, records: Records
) -> None:
    """The detail is gone from the record's text and fields, and from what is searched."""
    stack.push("Make the release")
    test = stack.push("Fix the test", detail="the umbrella word")
    assert records.search_sync("umbrella")
    stack.pop("A path was joined by hand")
    (record,) = records.get(test.id)
    assert "umbrella" not in json.dumps(dict(record.fields)) + record.text + record.keywords
    assert not [h for h in records.search_sync("umbrella") if h.keyword_score]
    assert record.text == "Fix the test\n\nA path was joined by hand"


def test_sibling_results_are_those_of_the_same_parent(stack: TaskStack) -> None:
    """What ended beside the current task, the latest first; not what ended below or above."""
    stack.push("release")
    for goal in ("first", "second"):
        stack.push(goal)
        stack.push(f"part of {goal}")
        stack.pop("part done")
        stack.pop(f"{goal} done", blocked=goal == "second")
    stack.push("third")
    assert [(f.result, f.status) for f in stack.sibling_results()] == [
        ("second done", "blocked"),
        ("first done", "complete"),
    ]
    stack.pop("third done")
    assert stack.sibling_results() == []
    stack.pop("all done")
    assert goals(stack.sibling_results()) == ["release"]


def test_each_session_has_a_stack_of_its_own(stack: TaskStack, records: Records) -> None:
    """Without a session it is the project's default stack."""
    monday = TaskStack(records, " monday ")
    stack.push("at the project")
    monday.push("on Monday")
    assert goals(stack.path()) == ["at the project"]
    assert goals(monday.path()) == ["on Monday"]
    assert monday.session == "monday"
    assert goals(TaskStack(records, "tuesday").path()) == []
    assert goals(monday.list()) == ["on Monday"]


def test_a_stack_outlives_its_process(tmp_path: Path) -> None:
    """What was pushed is there when the store is opened again."""
    for goal in ("first", "second"):
        with open_records(tmp_path / "s", "tasks", model="none") as opened:
            TaskStack(opened).push(goal)
    with open_records(tmp_path / "s", "tasks", model="none") as opened:
        assert goals(TaskStack(opened).path()) == ["first", "second"]


def test_a_list_is_newest_first(stack: TaskStack) -> None:
    """Active and ended, up to the limit."""
    stack.push("first")
    stack.push("second")
    stack.pop("done")
    stack.push("third")
    assert goals(stack.list(2)) == ["third", "second"]
    with pytest.raises(InvalidRequestError, match="limit must be at least 1, got 0"):
        stack.list(0)


def test_two_processes_at_once_lose_nothing(tmp_path: Path, kit: ContextKit) -> None:
    """All pushes are on one stack, one upon the other; each pop ends a task of its own."""
    each = [(str(tmp_path), name, str(EACH)) for name in ("one", "two")]
    run_together(PUSHES, *each)
    stack = TaskStack.of(kit, "race")
    path = stack.path()
    assert [frame.depth for frame in path] == list(range(2 * EACH))
    for name in ("one", "two"):
        mine = [goal for goal in goals(path) if goal.startswith(name)]
        assert mine == [f"{name} {n}" for n in range(EACH)]
    run_together(POPS, *each)
    assert stack.peek() is None
    results = {frame.result for frame in stack.list(3 * EACH)}
    assert results == {f"{p} {n}" for p in ("one", "two") for n in range(EACH)}


def test_threads_at_once_lose_nothing(kit: ContextKit) -> None:
    """Threads of one process take turns, too."""
    stack = TaskStack.of(kit)

    def push(name: int) -> None:
        for number in range(5):
            stack.push(f"{name} {number}")

    threads = [threading.Thread(target=push, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [frame.depth for frame in stack.path()] == list(range(20))


def test_without_turns_nothing_is_lost_either(records: Records) -> None:
    """Two tasks that were begun upon the same one are both popped in the end."""
    stack = TaskStack(records)
    root = stack.push("root")
    for goal in ("left", "right"):
        frame = stack.push(goal)
        fields = {**frame.as_record().fields, "parent": root.id, "depth": 1}
        records.put([Record(id=frame.id, text=goal, created_at=frame.created_at, fields=fields)])
    assert goals(stack.path()) == ["root", "right"]
    assert [stack.pop("done").goal for _ in range(3)] == ["right", "left", "root"]


def test_the_path_goes_over_an_ended_task(records: Records, stack: TaskStack) -> None:
    """A parent that somebody else ended is still what a task is for."""
    root = stack.push("root")
    stack.push("child")
    fields = {**root.as_record().fields, "status": "complete", "result": "done"}
    records.put([Record(id=root.id, text="root", created_at=root.created_at, fields=fields)])
    assert goals(stack.path()) == ["root", "child"]


def test_imported_records_do_no_harm(records: Records, stack: TaskStack) -> None:
    """A ring, a parent that is not there, and fields of other types."""
    records.put(
        [
            Record(id="a", text="A", fields={"session": "", "status": "active", "parent": "b"}),
            Record(id="b", text="B", fields={"session": "", "status": "active", "parent": "a"}),
        ]
    )
    assert len(stack.path()) == 2
    records.delete("a", "b")
    odd = {"session": "", "status": "active", "parent": "gone", "depth": "x", "goal": 5}
    records.put([Record(id="c", text="From elsewhere\nmore", fields=odd)])
    assert goals(stack.path()) == ["From elsewhere"]
    for ended_at in ("no time", "2026-01-02T03:04:05", 7):
        fields = {"session": "", "status": "lost", "ended_at": ended_at}
        records.put([Record(id="d", text="D", fields=fields)])
        assert stack.list(5)[0].status in {"complete", "active"}


def test_the_users_records_are_on_no_stack(records: Records, stack: TaskStack) -> None:
    """A stack is a project's."""
    TaskStack(records.shared).push("everywhere")
    assert stack.peek() is None


def test_nothing_to_pop_is_said(stack: TaskStack, records: Records) -> None:
    """Whose stack is empty, and what begins a task."""
    with pytest.raises(EmptyStackError, match="the project's task stack is empty") as caught:
        stack.pop("done")
    assert caught.value.session is None
    with pytest.raises(EmptyStackError, match="session 'monday'"):
        TaskStack(records, "monday").pop("done")


@pytest.mark.parametrize(
    ("goal", "detail", "message"),
    [
        ("", None, "goal must not be empty"),
        (" \x00\x1b[0m", None, "goal must not be empty"),
        (5, None, "goal must be a text, got 5"),
        ("\ud800", None, "character 0 is half a surrogate pair"),
        ("x" * (MAX_GOAL + 1), None, "at most 500 characters, this one has 501"),
        ("goal", "", "detail must not be empty"),
        ("goal", "x" * (MAX_TEXT + 1), "detail has at most 20,000 characters"),
    ],
)
def test_what_cannot_be_pushed_is_refused(
    stack: TaskStack, goal: Any, detail: Any, message: str
) -> None:
    """The error names the part, and nothing is stored."""
    with pytest.raises(InvalidTaskError, match=message):
        stack.push(goal, detail)
    assert stack.list() == []


def test_a_result_is_needed(stack: TaskStack) -> None:
    """A task is not ended without saying what came of it."""
    stack.push("goal")
    with pytest.raises(InvalidTaskError, match="result must not be empty"):
        stack.pop(" ")
    assert goals(stack.path()) == ["goal"]


@pytest.mark.parametrize("session", ["", " ", "a\nb", "x" * 201, 5])
def test_a_session_has_a_name(records: Records, session: Any) -> None:
    """1 to 200 printable characters."""
    with pytest.raises(InvalidTaskError, match="a session's name has 1 to 200"):
        TaskStack(records, session)


def test_texts_are_cleaned(stack: TaskStack) -> None:
    """A goal is one line; controls go from details."""
    frame = stack.push("a\n b", detail="c\r\n\x07d")
    assert (frame.goal, frame.detail) == ("a b", "c\nd")
