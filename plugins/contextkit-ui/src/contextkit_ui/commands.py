"""`contextkit report` and `contextkit ui`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from contextkit.cli.assemble import checked_sources, source_options, warn_of_troubles
from contextkit.cli.failures import ExitCode
from contextkit.cli.index import index_first
from contextkit.cli.options import assembly_options, names_of, query_from
from contextkit.cli.session import Session, pass_session
from contextkit.cli.strategies import strategy_option

__all__ = ["report", "ui"]

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
    help="The file to write; - for standard output.",
)
@source_options
@strategy_option
@assembly_options
@pass_session
def report(
    session: Session,
    /,
    query: str,
    target: Path,
    sources: tuple[str, ...],
    no_index: bool,
    timeout: float | None,
    **options: Any,
) -> int:
    """Write a page about a QUERY's context.

    One file that needs no other and no network: the budget by source, the items with their
    scores, what was left out and why, a timeline, and the text as the agent reads it. It holds
    what the context holds: hand it on with the same care.
    """
    from contextkit.pipeline.request import make_request
    from contextkit_ui.pages import report_page
    from contextkit_ui.view import hues_of, view_of

    query = query_from(query)
    names = checked_sources(session, query, names_of(sources), source_timeout=timeout, **options)
    if not no_index:
        index_first(session, names)
    kit, asked = session.kit, {"source_timeout": timeout, "record_use": False, **options}
    context = kit.assemble_context_sync(query, names, **asked)
    request = make_request(
        kit.config,
        query,
        project=kit.project,
        workspace=kit.workspace.root,
        sources=names,
        **asked,
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
    help="The port to listen on; default: one that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option("--no-index", is_flag=True, help="Do not bring the records up to date first.")
@pass_session
def ui(session: Session, /, port: int, no_open: bool, no_index: bool) -> int:
    """Look at contexts in the browser.

    A page on this machine alone, with a question, sources to switch on and off and a budget to
    slide. The address that is printed holds a token: who has it can ask. Ctrl-C ends it.
    """
    import secrets

    from contextkit_ui.server import LOOPBACK, listen, make_app, make_server

    with listen(port) as listening:
        if not no_index:
            index_first(session, None)
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        address = f"http://{LOOPBACK}:{port}/#token={token}"
        server = make_server(make_app(session.kit, token, port))
        click.echo(address)
        with contextlib.suppress(KeyboardInterrupt):
            if not no_open:
                import webbrowser

                webbrowser.open(address)
            server.run(sockets=[listening])
    return ExitCode.FINE
