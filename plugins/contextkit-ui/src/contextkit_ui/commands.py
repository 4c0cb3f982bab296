"""`contextkit report` and `contextkit ui`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli import (
    ExitCode,
    Session,
    checked_sources,
    index_first,
    no_index_option,
    pass_session,
    query_from,
    request_options,
    warn_of_troubles,
)

if TYPE_CHECKING:
    from contextkit import ContextKit

_STDOUT = Path("-")


@click.command(
    epilog="""\b
Examples:
  contextkit report "how is the token budget split?" --html budget.html
  contextkit report "why do we retry?" --html - --sources code,commits > retries.html
"""
)
@click.argument("query")
@click.option(
    "--html",
    "target",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="File to write; - is standard output.",
)
@request_options()
@no_index_option
@pass_session
def report(
    session: Session,
    /,
    query: str,
    target: Path,
    no_index: bool,
    options: dict[str, Any],
) -> int:
    """Write a web page that explains a QUERY's context.

    The page is one file and needs no network. It shows the budget by source, the items with their
    scores, what was left out and why, a timeline, and the text as the agent reads it. It contains
    the whole context, so share it with the same care.
    """
    from contextkit.agent import make_request
    from contextkit_ui.pages import report_page
    from contextkit_ui.view import hues_of, view_of

    query = query_from(query)
    options["sources"] = checked_sources(session, query, options)
    if not no_index:
        index_first(session, options["sources"])
    options["record_use"] = False
    kit = session.kit
    context = kit.assemble_context_sync(query, **options)
    request = make_request(
        kit.config,
        query,
        project=kit.project,
        workspace=kit.workspace.root,
        **options,
    )
    failed = warn_of_troubles(session, context)
    page = report_page(view_of(request, context, hues_of(kit.registry)))
    written = page.encode("utf-8", "replace")
    if target == _STDOUT:
        click.echo(written, nl=False)
    else:
        target.write_bytes(written)
    nothing_answered = failed and failed == len(context.trace.sources)
    return ExitCode.FAILED if nothing_answered else ExitCode.FINE


@click.command(
    epilog="""\b
Examples:
  contextkit ui
  contextkit ui --port 8765 --no-open
"""
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on; default: a free one.",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@no_index_option
@pass_session
def ui(session: Session, /, port: int, no_open: bool, no_index: bool) -> int:
    """Open the project's page in the browser.

    It answers questions, and shows memories, sources, settings, and what agents were given, as
    it happens. The page is for this machine only. The printed address contains a token: anyone
    who has it can ask and change. Ctrl-C stops the server.
    """
    import secrets

    from contextkit_ui.server import LOOPBACK, listen, make_app, make_server

    with listen(port) as listening, contextlib.ExitStack() as ending:

        def open_again() -> ContextKit:
            return ending.enter_context(_opened(session))

        if not no_index:
            index_first(session, None)
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        address = f"http://{LOOPBACK}:{port}/#token={token}"
        server = make_server(make_app(session.kit, token, port, open_again))
        click.echo(address)
        with contextlib.suppress(KeyboardInterrupt):
            if not no_open:
                import webbrowser

                webbrowser.open(address)
            server.run(sockets=[listening])
    return ExitCode.FINE


def _opened(session: Session) -> ContextKit:
    """Open a session's kit with the settings as they are now."""
    from contextkit import ContextKit
    from contextkit.agent import SourceRegistry, load_config, with_command_timeouts

    workspace = session.found_workspace
    config = with_command_timeouts(load_config(workspace, flags=session.settings))
    return ContextKit.over(workspace, config, SourceRegistry(config))
