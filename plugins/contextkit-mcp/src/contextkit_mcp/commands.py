"""`contextkit mcp`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click

from contextkit.cli import Session, main as run_command_line, pass_session

TOKEN_VARIABLE = "CONTEXTKIT_MCP_TOKEN"  # noqa: S105 - the variable's name
_PORT = 8765


@click.command(
    epilog="""\b
Examples:
  contextkit mcp
  contextkit mcp --project ~/src/tide
  contextkit mcp --http --port 8765
"""
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder in the project; default: that of -C, or the current folder.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address for HTTP.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port for HTTP; 0 picks a free one.",
)
@click.option(
    "--token",
    help=f"Token of HTTP clients. Prefer {TOKEN_VARIABLE}: other users cannot see it.",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    help="Additional host name that HTTP clients may use; repeatable.",
)
@pass_session
def mcp(
    session: Session,
    project: Path | None,
    http: bool,
    host: str,
    port: int,
    token: str | None,
    names: tuple[str, ...],
) -> None:
    """Run an MCP server for an agent.

    It uses standard input and output, or HTTP with --http. An agent can get contexts and
    premortems, explain them, update the records, and use the tools of plugins. The server follows
    changes of the configuration and notifies the agent.

    HTTP listens on 127.0.0.1. Any other address needs a token.
    """
    if not http and sys.stdin is None:
        raise click.UsageError("Standard input is closed; an agent must be connected to it.")
    from contextkit_mcp.live_kit import LiveKit
    from contextkit_mcp.serving import make_server

    if http:
        from contextkit_mcp.http import Address

        shown = token if token is not None else os.environ.get(TOKEN_VARIABLE)
        address = Address(host=host, port=port, token=shown, names=names)
    live = LiveKit(project or session.folder, session.settings)
    try:
        if http:
            from contextkit_mcp.http import serve_http

            asyncio.run(serve_http(make_server(live), address, session.warn))
        else:
            from contextkit_mcp.stdio import serve_stdio

            asyncio.run(serve_stdio(make_server(live)))
    finally:
        live.close()


def main() -> None:
    """Run `contextkit mcp` with the arguments of the process."""
    sys.argv.insert(1, "mcp")
    run_command_line()
