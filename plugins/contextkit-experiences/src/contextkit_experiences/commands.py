"""`contextkit experience`: keep GHAP entries from the command line."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from contextkit.cli import Session, json_option, pass_session
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.model import Experience, Lesson
from contextkit_experiences.reading import read_experiences
from contextkit_experiences.showing import one_line_of, page_of, slips_of
from contextkit_experiences.vocabulary import (
    DOMAINS,
    ENDINGS,
    STATUSES,
    STRATEGIES,
    TIERS,
    Status,
    Tier,
)

_global_option = click.option("--global", "shared", is_flag=True, help="For all your projects.")


def _book(session: Session, *, shared: bool = False) -> ExperienceBook:
    records = session.records("experiences")
    return ExperienceBook(records.shared if shared else records)


def _emit(session: Session, done: str, changed: Experience, as_json: bool) -> None:
    session.emit(changed.as_dict(), f"{done} {one_line_of(changed)}", as_json)


@click.group(
    epilog="""\b
Example:
  contextkit experience list --outcome falsified
"""
)
def experience() -> None:
    """Record what was tried and what happened.

    An experience begins with a goal, a hypothesis, an action and a prediction, may change
    on the way, and ends with an outcome and what it teaches.
    """


@experience.command(
    epilog="""\b
Example:
  contextkit experience start --domain debugging --strategy check-assumptions \\
    --goal "stop the nightly timeout" --hypothesis "the pool is too small" \\
    --action "double the pool" --prediction "no timeout tonight"
"""
)
@click.option("--goal", required=True, help="Goal.")
@click.option("--hypothesis", required=True, help="Hypothesis: what you believe.")
@click.option("--action", required=True, help="Action: what you do.")
@click.option("--prediction", required=True, help="Prediction: what you expect to happen.")
@click.option("--domain", required=True, help=f"One word, such as {', '.join(DOMAINS)}.")
@click.option("--strategy", required=True, help=f"One word, such as {', '.join(STRATEGIES)}.")
@click.option("--note", "notes", multiple=True, help="A note; repeatable.")
@_global_option
@json_option
@pass_session
def start(
    session: Session, /, as_json: bool, shared: bool, notes: tuple[str, ...], **texts: str
) -> None:
    """Start an experience and print its id."""
    begun = _book(session, shared=shared).start(notes=notes, **texts)
    for slip in slips_of(begun):
        session.warn(slip)
    _emit(session, "started", begun, as_json)


@experience.command(
    epilog="""\b
Example:
  contextkit experience update ghap_018f3a7c2b1d4e5f6a7b \\
    --hypothesis "the pool leaks" --action "log every checkout"
"""
)
@click.argument("ghap_id", metavar="ID")
@click.option("--hypothesis", help="New hypothesis.")
@click.option("--action", help="New action.")
@click.option("--prediction", help="New prediction.")
@click.option("--note", help="A note to append.")
@click.option(
    "--new-iteration/--same-iteration",
    default=None,
    help="Whether to count another iteration. Default: if more than a note changes.",
)
@json_option
@pass_session
def update(session: Session, /, as_json: bool, ghap_id: str, **changes: Any) -> None:
    """Add a note or a new iteration to an experience."""
    _emit(session, "updated", _book(session).update(ghap_id, **changes), as_json)


@experience.command(
    epilog="""\b
Example:
  contextkit experience resolve ghap_018f3a7c2b1d4e5f6a7b --status falsified \\
    --result "timed out again" --root-cause "a lock held over a retry" \\
    --what-worked "a timeout on the lock"
"""
)
@click.argument("ghap_id", metavar="ID")
@click.option("--status", required=True, type=click.Choice(ENDINGS), help="Outcome.")
@click.option("--result", required=True, help="What happened.")
@click.option("--surprise", help="What you did not expect.")
@click.option("--root-cause", help="Root cause.")
@click.option("--what-worked", help="Lesson: what worked in the end.")
@click.option("--takeaway", help="Lesson: what to remember; needs --what-worked.")
@click.option("--replaces", metavar="ID", help="Experience whose outcome this one overturns.")
@click.option(
    "--tier",
    "confidence_tier",
    type=click.Choice(TIERS),
    help="Confidence tier. Default: derived from iterations, root cause and lesson.",
)
@json_option
@pass_session
def resolve(
    session: Session,
    /,
    as_json: bool,
    ghap_id: str,
    status: Status,
    result: str,
    what_worked: str | None,
    takeaway: str | None,
    confidence_tier: Tier | None,
    **found: str | None,
) -> None:
    """Resolve an experience with its outcome."""
    if takeaway and not what_worked:
        raise click.UsageError("--takeaway needs --what-worked")
    lesson = Lesson(what_worked=what_worked, takeaway=takeaway) if what_worked else None
    resolved = _book(session).resolve(
        ghap_id, status, result, lesson=lesson, confidence_tier=confidence_tier, **found
    )
    _emit(session, "resolved", resolved, as_json)


@experience.command(
    epilog="""\b
Example:
  contextkit experience add --file experiences.jsonl
"""
)
@click.option(
    "--file",
    "source",
    required=True,
    type=click.File("rb"),
    help="A file with one JSON object, a list of them, or JSON lines; - reads standard input.",
)
@click.option("--replace", is_flag=True, help="Replace existing experiences.")
@_global_option
@json_option
@pass_session
def add(session: Session, /, as_json: bool, source: BinaryIO, replace: bool, shared: bool) -> None:
    """Add complete experiences from JSON.

    Needed: goal, hypothesis, action, prediction, domain, strategy. Once it is resolved
    also outcome_status and outcome_result; and as they are known surprise, root_cause,
    lesson {what_worked, takeaway}, confidence_tier, iteration_count, notes, started_at,
    updated_at, resolved_at, id.
    """
    name = str(getattr(source, "name", "<stdin>"))
    added = read_experiences(source.read(), name=name)
    _book(session, shared=shared).add(added, replace=replace)
    text = "\n".join(f"added {one_line_of(each)}" for each in added)
    session.emit([each.as_dict() for each in added], text, as_json)


@experience.command(
    "list",
    epilog="""\b
Example:
  contextkit experience list --domain debugging --outcome open
""",
)
@click.option("--domain", help="Only experiences of this domain.")
@click.option("--strategy", help="Only experiences of this strategy.")
@click.option("--outcome", type=click.Choice(STATUSES), help="Only experiences with this status.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="Most experiences to list.",
)
@json_option
@pass_session
def list_command(session: Session, /, as_json: bool, **wanted: Any) -> None:
    """List experiences, latest change first."""
    found = _book(session).list(**wanted)
    text = "\n".join(one_line_of(each) for each in found) or "no experiences"
    session.emit([each.as_dict() for each in found], text, as_json)


@experience.command(
    epilog="""\b
Example:
  contextkit experience show ghap_018f3a7c2b1d4e5f6a7b
"""
)
@click.argument("ghap_id", metavar="ID")
@json_option
@pass_session
def show(session: Session, /, as_json: bool, ghap_id: str) -> None:
    """Show one experience in full."""
    found = _book(session).get(ghap_id)
    session.emit(found.as_dict(), page_of(found), as_json)


@experience.command(
    epilog="""\b
Example:
  contextkit experience remove ghap_018f3a7c2b1d4e5f6a7b
"""
)
@click.argument("ghap_id", metavar="ID")
@json_option
@pass_session
def remove(session: Session, /, as_json: bool, ghap_id: str) -> None:
    """Delete one experience.

    Values that it is part of stay until they are refreshed.
    """
    _emit(session, "removed", _book(session).remove(ghap_id), as_json)
