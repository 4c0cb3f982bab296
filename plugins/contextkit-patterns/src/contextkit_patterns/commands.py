"""The commands `contextkit patterns ...`."""

from __future__ import annotations

import click

from contextkit.cli import (
    Session,
    add_command,
    edit_command,
    json_option,
    list_command,
    pass_session,
    remove_command,
    search_command,
)
from contextkit_patterns.book import PatternBook


@click.group()
def patterns() -> None:
    """Record procedures and how often they worked.

    \b
    Example: contextkit patterns list
    """


patterns.add_command(
    add_command(
        PatternBook,
        """Add or change the pattern NAME.

        In an existing pattern, the steps are replaced, and options that you do not give stay.

        \b
        Example: contextkit patterns add "Fix a flaky test" --step "Run it alone" --keyword flaky
        """,
    )
)
patterns.add_command(
    list_command(
        PatternBook,
        """List patterns, most promising first.


        \b
        Example: contextkit patterns list --limit 5
        """,
    )
)


patterns.add_command(
    search_command(
        PatternBook,
        """List the patterns that match QUERY, best first.

        \b
        Example: contextkit patterns search "a test fails at night"
        """,
    )
)
patterns.add_command(
    edit_command(
        PatternBook,
        """Change the pattern ID, with options or in an editor.

        The editor is the one that VISUAL or EDITOR names. If it fails, nothing is written.

        \b
        Example: contextkit patterns edit fix-a-flaky-test
        """,
    )
)


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
    session.emit(pattern.as_dict(), PatternBook.counted_line(pattern), as_json)


patterns.add_command(
    remove_command(
        PatternBook,
        """Delete the pattern ID and its counts.

        \b
        Example: contextkit patterns remove fix-a-flaky-test
        """,
    )
)
