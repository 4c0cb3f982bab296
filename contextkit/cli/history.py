"""`contextkit history`: usage history, for strategies that score usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from contextkit.pipeline.usage import Chosen


@click.group(epilog="Example: contextkit history show")
def history() -> None:
    """Show or clear usage history.

    Usage is only recorded for strategies that score it; see `contextkit strategies`.
    """


@history.command(
    epilog="""\b
Examples:
  contextkit history show
  contextkit history show --json
"""
)
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """List the used items of this project, strongest first.

    SIGNAL is between 0 and 1: how often an item was in a context or marked as used, and how
    recently.
    """
    from contextkit.pipeline.usage import history_of

    found = history_of(session.config).listed(session.project)
    if not session.config.history.enabled:
        session.warn("history.enabled is false: the history is not used")
    rows = [[f"{one.signal:.3f}", one.source, one.id, _day(one)] for one in found]
    text = table(["SIGNAL", "SOURCE", "ID", "LAST"], rows) if rows else _nothing(session)
    session.emit([attrs.asdict(one) for one in found], text, as_json)


@history.command(epilog="Example: contextkit history clear")
@json_option
@pass_session
def clear(session: Session, as_json: bool) -> None:
    """Clear this project's usage history.

    A damaged history file is deleted as a whole.
    """
    from contextkit.pipeline.usage import history_of

    count = history_of(session.config).clear(session.project)
    session.emit({"forgotten": count}, f"forgotten: {count}", as_json)


def _nothing(session: Session) -> str:
    from contextkit.config.strategies import strategy_named

    used = strategy_named(session.config, session.config.assemble.strategy)
    why = "" if used.history else f": the strategy '{used.name}' does not score usage"
    return f"nothing is recorded{why}"


def _day(one: Chosen) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M")
