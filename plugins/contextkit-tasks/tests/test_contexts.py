"""What the source finds, how it is shown, and the recipe `task` with its split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import contextkit_tasks as plugin
from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    InvalidRequestError,
    Records,
    hookimpl,
)
from contextkit.errors import InvalidContextTypeError
from contextkit.testing import open_kit
from contextkit_tasks import EmptyStackError, TaskStack, assemble_task_context
from contextkit_tasks.recipe import SPLIT

(TEMPLATE,) = plugin.contextkit_recipes()


class Notes:
    """A source of somebody else's, which answers with the query."""

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Many notes of the query."""
        return [
            ContextItem("notes", f"note {n} of {request.query}: " + "words " * 60, 0.9, id=str(n))
            for n in range(20)
        ]

    @hookimpl
    def contextkit_weight(self) -> float:
        """Six shares."""
        return 6.0


@pytest.fixture
def filled(kit: ContextKit) -> ContextKit:
    """A stack of four, with two results beside the current task, and another source."""
    kit.register(Notes(), "notes")
    stack = TaskStack.of(kit, "monday")
    stack.push("Make the release", detail="all the wheels")
    stack.push("Repair the build")
    stack.push("Find the failing step")
    for goal, result in (("Read the log", "Step 7 fails"), ("Ask Ann", "She is away")):
        stack.push(goal)
        stack.pop(result)
    stack.push("Run step 7 alone", detail="with the clock in UTC")
    return kit


async def found(records: Records, query: str = "step", **request: Any) -> list[ContextItem]:
    """What the source answers."""
    return await plugin.contextkit_query(ContextRequest(query=query, records=records, **request))


async def test_the_split_of_the_seed_is_in_the_trace(filled: ContextKit) -> None:
    """Root 5%, path 15%, siblings 10%, and the rest is the current task's and its sources'."""
    context = await assemble_task_context(filled, "monday", max_tokens=1500)
    shares = {source.section: source.share for source in context.trace.sources}
    total = sum(shares.values())
    rest = shares["current"] + shares["notes"]
    parts = {**{role: shares[role] for role in ("root", "path", "siblings")}, "current": rest}
    for role, percent in SPLIT.items():
        assert parts[role] == pytest.approx(total * percent / 100, abs=2), role
    # Within the rest the sources' own weights say who gets what: one against six.
    assert shares["notes"] == pytest.approx(6 * shares["current"], abs=6)
    assert total > 1000
    assert context.token_count <= 1500


async def test_every_part_shows_what_it_is_for(filled: ContextKit) -> None:
    """The root's goal, the tasks between, the results beside, and the current one's detail."""
    context = await assemble_task_context(filled, "monday", max_tokens=3000)
    sections = {item.id: item.section for item in context.trace.items if item.source == "tasks"}
    stack = TaskStack.of(filled, "monday")
    root, repair, find, current = stack.path()
    assert sections[root.id] == "root"
    assert [sections[frame.id] for frame in (repair, find)] == ["path", "path"]
    assert {sections[frame.id] for frame in stack.sibling_results()} == {"siblings"}
    assert sections[current.id] == "current"
    text = context.markdown
    assert text.startswith("# Task: Run step 7 alone")
    for words in ("Step 7 fails", "She is away", "with the clock in UTC"):
        assert words in text
    # Of what is above the current task the goals are enough.
    assert "all the wheels" not in text
    assert "note 0 of Run step 7 alone" in text
    # The nearest of the path comes first.
    assert text.index("Find the failing step") < text.index("Repair the build")


async def test_parts_that_are_empty_leave_their_share_to_others(kit: ContextKit) -> None:
    """A root that is the current task is shown with its detail, in one place."""
    TaskStack.of(kit).push("Make the release", detail="all the wheels")
    context = await assemble_task_context(kit)
    states = {source.section: source.state for source in context.trace.sources}
    assert states == {"root": "empty", "path": "empty", "siblings": "empty", "current": "ok"}
    assert context.markdown.count("Make the release") == 2
    assert "all the wheels" in context.markdown


async def test_sources_can_be_chosen_and_weighed(filled: ContextKit) -> None:
    """As for any context; a name that is no source is refused."""
    only = await assemble_task_context(filled, "monday", ["tasks"])
    assert set(only.sources_used) == {"tasks"}
    weighed = await assemble_task_context(filled, "monday", weights={"notes": 1.0}, max_tokens=1500)
    shares = {source.section: source.share for source in weighed.trace.sources}
    assert shares["notes"] == pytest.approx(shares["current"], abs=2)
    with pytest.raises(InvalidContextTypeError):
        await assemble_task_context(filled, "monday", ["nothing"])


async def test_a_source_that_is_named_is_asked_whatever_the_settings_exclude(
    tmp_path: Path,
) -> None:
    """As in any context; others are left out, and so is what the request excludes."""
    settings = {"embedding.model": "none", "assemble.exclude_sources": ["notes"]}
    with open_kit(tmp_path, {"tasks": plugin, "notes": Notes()}, settings=settings) as kit:
        TaskStack.of(kit).push("Make the release")
        named = await assemble_task_context(kit, sources=["notes"])
        assert set(named.sources_used) == {"tasks", "notes"}
        for context in (
            await assemble_task_context(kit),
            await assemble_task_context(kit, sources=["notes"], exclude_sources=["notes"]),
        ):
            assert set(context.sources_used) == {"tasks"}


async def test_without_a_task_there_is_no_context(kit: ContextKit) -> None:
    """The error says whose stack is empty."""
    with pytest.raises(EmptyStackError, match="session 'monday'"):
        await assemble_task_context(kit, "monday")


async def test_the_recipe_can_be_asked_for_by_name(filled: ContextKit) -> None:
    """A host that knows the goal needs nothing of this module."""
    context = await filled.assemble_recipe(
        "task", {"goal": "Run step 7 alone", "sources": ["notes", "missing"]}, session="monday"
    )
    assert [s.section for s in context.trace.sources] == [
        "root",
        "path",
        "siblings",
        "current",
        "notes",
    ]


def test_the_weights_are_percents() -> None:
    """All sections together are 100, whatever the sources weigh."""
    recipe = TEMPLATE.build("goal", {"code": 4.0, "memories": 1.0, "tasks": 2.0})
    weights = {section.key: section.weight for section in recipe.sections}
    assert sum(weight or 0 for weight in weights.values()) == pytest.approx(100)
    assert (weights["root"], weights["path"], weights["siblings"]) == (5, 15, 10)
    assert weights["code"] == pytest.approx(4 * (weights["memories"] or 0))
    alone = TEMPLATE.build("goal")
    assert alone.sections[-1].weight == 70
    assert {section.query for section in recipe.sections} == {"goal"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": ""}, "goal: expected the current task's goal, got ''"),
        ({"goal": 5}, "goal: expected the current task's goal, got 5"),
        ({"goal": "g", "sources": "code"}, "sources: expected names, or name -> weight"),
        ({"goal": "g", "sources": 5}, "sources: expected names, or name -> weight"),
        ({"goal": "g", "sources": [""]}, "sources: '' is not a source's name"),
        ({"goal": "g", "sources": ["root"]}, "sources: 'root' is not a source's name"),
        ({"goal": "g", "sources": {"code": 0}}, "sources: code must be a number over 0, got 0"),
        ({"goal": "g", "sources": {"code": True}}, "sources: code must be a number over 0"),
    ],
)
def test_arguments_that_make_no_sense_are_named(arguments: dict[str, Any], message: str) -> None:
    """What cannot be a goal or a source is the request's error."""
    with pytest.raises(InvalidRequestError) as caught:
        TEMPLATE.build(**arguments)
    assert message in str(caught.value)


async def test_a_role_that_there_is_none_of_is_named(records: Records) -> None:
    """The roles are listed."""
    for role in ("roof", ["root"]):
        with pytest.raises(InvalidRequestError, match="is not one of root, path, siblings"):
            await found(records, filters={"role": role})


async def test_an_empty_stack_has_no_roles(records: Records) -> None:
    """Nothing is current, and nothing above it."""
    for role in ("root", "path", "current", "siblings"):
        assert await found(records, filters={"role": role}) == []


async def test_a_context_has_the_stack_of_its_session(filled: ContextKit) -> None:
    """Whatever is asked, the current task comes first; another session has its own."""
    records = filled.records("tasks")
    items = await found(records, "zebra", session="monday")
    assert items[0].title == "Run step 7 alone"
    assert {item.title for item in items} >= {"Make the release", "Read the log"}
    assert await found(records, "zebra", session="tuesday") == []


@pytest.mark.parametrize("session", ["x" * 300, "two\nlines"])
async def test_a_session_that_no_stack_may_be_called_has_none(
    filled: ContextKit, session: str
) -> None:
    """What matches is found all the same."""
    context = await filled.assemble_context("Read the log", ["tasks"], session=session)
    assert "Step 7 fails" in context.markdown
    recipe = {"goal": "Read the log"}
    for source in (await filled.assemble_recipe("task", recipe, session=session)).trace.sources:
        assert source.state == "empty", source


async def test_a_new_session_finds_earlier_results(filled: ContextKit) -> None:
    """What came of a task is found by what is asked, in any session."""
    items = await found(filled.records("tasks"), "which step fails?", session="tuesday")
    assert "Step 7 fails" in "\n".join(item.content for item in items)


async def test_filters_choose_among_records(filled: ContextKit) -> None:
    """With a filter the stack as such is not shown."""
    items = await found(
        filled.records("tasks"), "step", session="monday", filters={"status": "complete"}
    )
    assert {item.metadata["status"] for item in items} == {"complete"}


def item(**metadata: Any) -> ContextItem:
    """An item as the source makes them."""
    data = {"status": "active", "goal": "Build *it*", **metadata}
    return ContextItem("tasks", "content", 0.5, id="task_1", metadata=data)


@pytest.mark.parametrize(
    ("style", "detail", "active", "ended"),
    [
        (
            "markdown",
            "full",
            "**Task** (active): Build *it*\n\non <three> systems",
            "**Task** (complete): Build *it*\n\n**Result**: a < b",
        ),
        (
            "markdown",
            "summary",
            "**Task** (active): Build *it*",
            "**Task** (complete): Build *it*\n\n**Result**: a < b",
        ),
        (
            "xml",
            "full",
            '<entity name="task_1" type="task" status="active">\nGoal: Build *it*\n'
            "Detail: on &lt;three&gt; systems\n</entity>",
            '<entity name="task_1" type="task" status="complete">\nGoal: Build *it*\n'
            "Result: a &lt; b\n</entity>",
        ),
        (
            "plain",
            "full",
            "Build *it* [task: active]\n  on <three> systems",
            "Build *it* [task: complete]\n  Result: a < b",
        ),
        ("plain", "compact", "active: Build *it*", "complete: Build *it* -> a < b"),
        (
            "xml",
            "compact",
            '<task status="active">Build *it*</task>',
            '<task status="complete">Build *it* -&gt; a &lt; b</task>',
        ),
    ],
)
def test_formats(style: Any, detail: Any, active: str, ended: str) -> None:
    """What is active shows its detail, what ended its result."""
    items = [item(detail="on <three> systems"), item(status="complete", result="a < b")]
    shown = list(plugin.contextkit_format(items, style, detail))
    if style == "markdown":
        shown = [text.replace("\\", "") for text in shown]
    assert shown == [active, ended]


def test_a_compact_line_is_short() -> None:
    """A long result is cut."""
    (line,) = plugin.contextkit_format([item(result="word " * 200)], "markdown", "compact")
    assert len(line) < 220
    assert line.startswith("- active: Build")


def test_settings_that_there_are_none_of_are_named() -> None:
    """The source has no settings."""
    assert list(plugin.contextkit_source().setting_problems("tasks", {"depth": 1})) == [
        "depth: the source tasks has no such setting"
    ]
