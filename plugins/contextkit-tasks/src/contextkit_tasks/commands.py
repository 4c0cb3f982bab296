"""The commands `contextkit task ...`."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from contextkit.cli import (
    Session,
    checked_sources,
    index_first,
    json_option,
    no_index_option,
    pass_session,
    request_options,
    warn_of_troubles,
)
from contextkit_tasks.assembling import assemble_task_context
from contextkit_tasks.showing import lines_of, page_of, path_of
from contextkit_tasks.stack import TaskStack

_of_session = click.option(
    "--session", "of", help="Session of the stack; default: the project's stack."
)


@click.group()
def task() -> None:
    """Push, pop and show tasks.

    \b
    Example: contextkit task push "Make the release"
    """


@task.command()
@click.argument("goal")
@click.option("-d", "--detail", help="Detail to keep while the task is active.")
@_of_session
@json_option
@pass_session
def push(session: Session, goal: str, detail: str | None, of: str | None, as_json: bool) -> None:
    """Start the task GOAL within the current one.

    \b
    Example: contextkit task push "Fix the failing test" --detail "test_wheel, on Windows"
    """
    begun = TaskStack.of(session.kit, of).push(goal, detail)
    text = f"Pushed {begun.id} (depth {begun.depth}): {begun.goal}"
    session.emit(begun.as_dict(), text, as_json)


@task.command()
@click.argument("result")
@click.option("--blocked", is_flag=True, help="The task could not be completed; RESULT says why.")
@_of_session
@json_option
@pass_session
def pop(session: Session, result: str, blocked: bool, of: str | None, as_json: bool) -> None:
    """End the current task with its RESULT.

    Its detail is deleted.

    \b
    Example: contextkit task pop "A path was joined by hand; fixed"
    """
    stack = TaskStack.of(session.kit, of)
    ended = stack.pop(result, blocked=blocked)
    current = stack.peek()
    now = f"now: {current.goal}" if current else "the stack is empty"
    text = f"Popped {ended.id} ({ended.status}): {ended.goal}\n{now}"
    session.emit(ended.as_dict(), text, as_json)


@task.command()
@_of_session
@json_option
@pass_session
def peek(session: Session, of: str | None, as_json: bool) -> None:
    """Show the current task with its detail.

    \b
    Example: contextkit task peek
    """
    current = TaskStack.of(session.kit, of).peek()
    session.emit(current.as_dict() if current else None, page_of(current), as_json)


@task.command()
@_of_session
@json_option
@pass_session
def path(session: Session, of: str | None, as_json: bool) -> None:
    """Show the tasks from the root to the current one.

    \b
    Example: contextkit task path
    """
    frames = TaskStack.of(session.kit, of).path()
    session.emit([frame.as_dict() for frame in frames], path_of(frames), as_json)


@task.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@_of_session
@json_option
@pass_session
def list_tasks(session: Session, limit: int, of: str | None, as_json: bool) -> None:
    """List the session's tasks, newest first.

    \b
    Example: contextkit task list --limit 5
    """
    frames = TaskStack.of(session.kit, of).list(limit)
    session.emit([frame.as_dict() for frame in frames], lines_of(frames), as_json)


@task.command()
@_of_session
@request_options()
@no_index_option
@json_option
@pass_session
def context(
    session: Session, /, of: str | None, no_index: bool, as_json: bool, options: dict[str, Any]
) -> None:
    """Print the context for the current task.

    The root goal gets 5% of the budget, the tasks between 15%, siblings' results 10%. The rest
    is for the current task and what the other sources find for it; their records are updated
    first. It takes the options of `contextkit assemble`, which also apply to the stack's own
    sections. A strategy's percentages override this split.

    \b
    Example: contextkit task context --max-tokens 1000
    """
    options.pop("session", None)
    goal = TaskStack.of(session.kit, of).current().goal
    names = checked_sources(session, goal, options)
    options.pop("sources", None)
    if not no_index:
        index_first(session, names)
    assembled = asyncio.run(assemble_task_context(session.kit, of, names, **options))
    warn_of_troubles(session, assembled)
    session.emit(assembled.as_dict(), assembled.markdown, as_json)
