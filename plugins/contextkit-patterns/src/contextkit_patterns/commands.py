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
    """Keep procedures, what calls for them, and how often they work.

    \b
    Example: contextkit patterns list
    """


@patterns.command()
@click.argument("name")
@click.option("-s", "--step", "steps", multiple=True, required=True, help="In order; repeatable.")
@click.option("-k", "--keyword", "keywords", multiple=True, help="A word or phrase that calls.")
@click.option(
    "-i", "--intent", "intents", multiple=True, type=click.Choice(INTENTS), help="What it suits."
)
@click.option("-e", "--entity-type", "entity_types", multiple=True, help="What it is about.")
@click.option("--applications", type=int, help="How often it was applied before.")
@click.option("--successes", type=int, help="How often that worked.")
@click.option("--global", "shared", is_flag=True, help="For all of your projects.")
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
    """Store a pattern with this NAME, or change the one that has it.

    What is not given stays as it is in a pattern that is there, but for the steps.

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
    """List patterns, those that are expected to work first.

    \b
    Example: contextkit patterns list --limit 5
    """
    book = PatternBook.of(session.kit)
    found = book.list(limit)
    session.emit([each.as_dict() for each in found], lines_of(found, book.count()), as_json)


@patterns.command()
@click.argument("pattern_id", metavar="ID")
@click.option("--success/--failure", default=None, help="Whether it worked; needed.")
@json_option
@pass_session
def applied(session: Session, pattern_id: str, success: bool | None, as_json: bool) -> None:
    """Count that the pattern with this ID was applied.

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
    """Delete the pattern with this ID, and what was counted of it.

    \b
    Example: contextkit patterns remove fix-a-flaky-test
    """
    pattern = PatternBook.of(session.kit).remove(pattern_id)
    session.emit(pattern.as_dict(), f"Removed {pattern.id}", as_json)
