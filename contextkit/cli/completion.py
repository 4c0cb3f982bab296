"""`contextkit completion`."""

from __future__ import annotations

import click

from contextkit.cli.output import COMPLETION_VARIABLE


@click.command(
    epilog="""\b
Examples:
  echo 'eval "$(contextkit completion bash)"' >> ~/.bashrc
  echo 'eval "$(contextkit completion zsh)"' >> ~/.zshrc
  contextkit completion fish > ~/.config/fish/completions/contextkit.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    It completes commands, also of plugins, options, their values, and source names. It needs bash
    4.4 or newer, zsh or fish.
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    kinds = {"bash": BashComplete, "fish": FishComplete, "zsh": ZshComplete}
    root = click.get_current_context().find_root()
    script = kinds[shell](root.command, {}, "contextkit", COMPLETION_VARIABLE).source()
    # In a list of names such as a,b the commas belong to the value.
    click.echo(script.replace('(string split "," ', '(string split --max 1 "," '))
