"""The commands `contextkit patterns ...`."""

from __future__ import annotations

import click

from contextkit.cli.session import Session, json_option, pass_session
from contextkit.text.signals import INTENTS
from contextkit_patterns.book import PatternBook
from contextkit_patterns.showing import added_line, counted_line, lines_of

__all__ = ["patterns"]


@click.group()
def patterns() -> None:
    """Record procedures and how often they worked.

    \b
    Example: contextkit patterns list
    """


@patterns.command()
@click.argument("name")
@click.option(
    "-s", "--step", "steps", multiple=True, required=True, help="A step, in order; repeatable."
)
@click.option(
    "-k",
    "--keyword",
    "keywords",
    multiple=True,
    help="A word or phrase to which it applies; repeatable.",
)
@click.option(
    "-i",
    "--intent",
    "intents",
    multiple=True,
    type=click.Choice(INTENTS),
    help="An intent to which it applies; repeatable.",
)
@click.option(
    "-e",
    "--entity-type",
    "entity_types",
    multiple=True,
    help="An entity type to which it applies; repeatable.",
)
@click.option("--applications", type=int, help="Number of earlier applications.")
@click.option("--successes", type=int, help="Number of earlier successes.")
@click.option("--global", "shared", is_flag=True, help="For all your projects.")
@json_option
@pass_session
def add(
    session: Session,
    name: str,
    steps: tuple[str, ...],
    keywords: tuple[str, ...],
    intents: tuple[str, ...],
    entity_types: tuple[str, ...],
    applications: int | None,
    successes: int | None,
    shared: bool,
    as_json: bool,
) -> None:
    """Add or change the pattern NAME.

    In an existing pattern, the steps are replaced, and options that you do not give stay.

    \b
    Example: contextkit patterns add "Fix a flaky test" --step "Run it alone" --keyword flaky
    """
    pattern = PatternBook.of(session.kit).add(
        name,
        steps,
        keywords=keywords or None,
        intents=intents or None,
        entity_types=entity_types or None,
        applications=applications,
        successes=successes,
        shared=shared,
    )
    data = {**pattern.as_dict(), "outcome": pattern.outcome}
    session.emit(data, added_line(pattern), as_json)


@patterns.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@json_option
@pass_session
def list_patterns(session: Session, limit: int, as_json: bool) -> None:
    """List patterns, most promising first.

    \b
    Example: contextkit patterns list --limit 5
    """
    book = PatternBook.of(session.kit)
    found = book.list(limit)
    session.emit([each.as_dict() for each in found], lines_of(found, book.count()), as_json)


@patterns.command()
@click.argument("pattern_id", metavar="ID")
@click.option("--success/--failure", default=None, help="Whether it worked; required.")
@json_option
@pass_session
def applied(session: Session, pattern_id: str, success: bool | None, as_json: bool) -> None:
    """Count one application of the pattern ID.

    \b
    Example: contextkit patterns applied fix-a-flaky-test --success
    """
    if success is None:
        raise click.UsageError("Say whether it worked: --success or --failure.")
    pattern = PatternBook.of(session.kit).applied(pattern_id, success=success)
    session.emit(pattern.as_dict(), counted_line(pattern), as_json)


@patterns.command()
@click.argument("pattern_id", metavar="ID")
@json_option
@pass_session
def remove(session: Session, pattern_id: str, as_json: bool) -> None:
    """Delete the pattern ID and its counts.

    \b
    Example: contextkit patterns remove fix-a-flaky-test
    """
    pattern = PatternBook.of(session.kit).remove(pattern_id)
    session.emit(pattern.as_dict(), f"Removed {pattern.id}", as_json)
