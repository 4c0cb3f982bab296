"""`contextkit experience`: keep GHAP entries from the command line."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from contextkit.cli.session import Session, json_option, pass_session
from contextkit_experiences.book import ExperienceBook
from contextkit_experiences.model import Experience, Lesson
from contextkit_experiences.reading import read_experiences
from contextkit_experiences.serialising import to_json
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

__all__ = ["experience"]

_global_option = click.option("--global", "shared", is_flag=True, help="For all of your projects.")


def _book(session: Session, *, shared: bool = False) -> ExperienceBook:
    records = session.records("experiences")
    return ExperienceBook(records.shared if shared else records)


def _emit(session: Session, done: str, changed: Experience, as_json: bool) -> None:
    session.emit(to_json(changed), f"{done} {one_line_of(changed)}", as_json)


@click.group(
    epilog="""\b
Example:
  contextkit experience list --outcome falsified
"""
)
def experience() -> None:
    """Record what was tried, what was expected and what came of it.

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
@click.option("--goal", required=True, help="What is to be reached.")
@click.option("--hypothesis", required=True, help="What you believe.")
@click.option("--action", required=True, help="What you do on that belief.")
@click.option("--prediction", required=True, help="What you expect to happen.")
@click.option("--domain", required=True, help=f"One word, such as {', '.join(DOMAINS)}.")
@click.option("--strategy", required=True, help=f"One word, such as {', '.join(STRATEGIES)}.")
@click.option("--note", "notes", multiple=True, help="A remark; may be given again.")
@_global_option
@json_option
@pass_session
def start(
    session: Session, /, as_json: bool, shared: bool, notes: tuple[str, ...], **texts: str
) -> None:
    """Begin an experience; prints its id."""
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
@click.option("--hypothesis", help="What you believe now.")
@click.option("--action", help="What you do now.")
@click.option("--prediction", help="What you expect now.")
@click.option("--note", help="A remark, put behind the others.")
@click.option(
    "--new-iteration/--same-iteration",
    default=None,
    help="Whether this counts as another try. Default: when more than a note changes.",
)
@json_option
@pass_session
def update(session: Session, /, as_json: bool, ghap_id: str, **changes: Any) -> None:
    """Change an open experience on the way: the next try, or a remark."""
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
@click.option("--status", required=True, type=click.Choice(ENDINGS), help="How it ended.")
@click.option("--result", required=True, help="What happened.")
@click.option("--surprise", help="What you did not expect.")
@click.option("--root-cause", help="Why the hypothesis failed, or what was behind it all.")
@click.option("--what-worked", help="The lesson: what did the job in the end.")
@click.option("--takeaway", help="The lesson: what to remember; needs --what-worked.")
@click.option(
    "--tier",
    "confidence_tier",
    type=click.Choice(TIERS),
    help="How far to trust it. Default: from the iterations, the root cause and the lesson.",
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
    """End an open experience with its outcome."""
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
@click.option("--replace", is_flag=True, help="Replace experiences whose id is there already.")
@_global_option
@json_option
@pass_session
def add(session: Session, /, as_json: bool, source: BinaryIO, replace: bool, shared: bool) -> None:
    """Add whole experiences from JSON: all of them, or none.

    Needed: goal, hypothesis, action, prediction, domain, strategy. Once it is resolved
    also outcome_status and outcome_result; and as they are known surprise, root_cause,
    lesson {what_worked, takeaway}, confidence_tier, iteration_count, notes, started_at,
    updated_at, resolved_at, id.
    """
    name = str(getattr(source, "name", "<stdin>"))
    added = read_experiences(source.read(), name=name)
    _book(session, shared=shared).add(added, replace=replace)
    text = "\n".join(f"added {one_line_of(each)}" for each in added)
    session.emit([to_json(each) for each in added], text, as_json)


@experience.command(
    "list",
    epilog="""\b
Example:
  contextkit experience list --domain debugging --outcome open
""",
)
@click.option("--domain", help="Only those of this domain.")
@click.option("--strategy", help="Only those of this strategy.")
@click.option("--outcome", type=click.Choice(STATUSES), help="Only those of this status.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most.")
@json_option
@pass_session
def list_command(session: Session, /, as_json: bool, **wanted: Any) -> None:
    """List experiences, the last changed first."""
    found = _book(session).list(**wanted)
    text = "\n".join(one_line_of(each) for each in found) or "no experiences"
    session.emit([to_json(each) for each in found], text, as_json)


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
    """Show one experience with everything that is known of it."""
    found = _book(session).get(ghap_id)
    session.emit(to_json(found), page_of(found), as_json)


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
    """Delete one experience; values made of it stay until they are refreshed."""
    _emit(session, "removed", _book(session).remove(ghap_id), as_json)
