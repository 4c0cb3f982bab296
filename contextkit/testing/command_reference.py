"""Generate the reference of all commands from click's command tree.

The reference is Markdown.

`python -m contextkit.testing.command_reference FILE` writes it between the file's marks. It lists
the commands of the plugins that are installed and on; their pages describe them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import click

from contextkit.cli.commands import BUILT_IN
from contextkit.cli.failures import exit_code_lines
from contextkit.cli.lazy import LazyCommand
from contextkit.cli.root import cli
from contextkit.cli.session import Session
from contextkit.models.request_options import OPTIONS
from contextkit.testing.reference import cell, filled, table, write_page

_MANY = 5
"""So many options in common with `assemble` are named and not described again."""

_KEPT_LINES = re.compile(r"^\x08\n", re.MULTILINE)


def command_reference() -> str:
    """Generate the lists of commands, options, codes, and each command.

    The options are the global ones, and the codes are the exit codes. Each command of the core has
    its own part.
    """
    session = Session()
    try:
        context = click.Context(cli, info_name="contextkit", obj=session)
        own = {name: command.load() for name, command in BUILT_IN.items()}
        added = {
            name: command.load() if isinstance(command, LazyCommand) else command
            for name, command in sorted(session.plugin_commands.commands.items())
        }
        return "\n\n".join(
            [
                table(("command", "what it does"), _rows(own, linked=True)),
                f"Commands of plugins:\n\n{table(('command', 'what it does'), _rows(added))}",
                f"## Options before the command\n\n{_options(cli, context)}",
                "## Options of a request\n\nCommands that assemble a context have flags for the "
                "common ones, and `--set NAME=VALUE` for all.\n\n"
                f"{table(('option', 'value', 'meaning'), _request_options())}",
                f"## Exit codes\n\n{table(('code', 'meaning'), _exit_codes())}",
                *_sections(own, context, "##"),
            ]
        )
    finally:
        session.close()


def _rows(
    commands: Mapping[str, click.Command], above: str = "contextkit", *, linked: bool = False
) -> Iterator[tuple[str, str]]:
    for name, command in commands.items():
        path = f"{above} {name}"
        shown = f"[`{path}`](#{path.replace(' ', '-')})" if linked else f"`{path}`"
        if not isinstance(command, click.Group):
            yield shown, cell(command.get_short_help_str(limit=200))
        else:
            yield from _rows(command.commands, path, linked=linked)


def _request_options() -> Iterator[tuple[str, str, str]]:
    for name, field in OPTIONS.items():
        yield f"`{name}`", cell(field.metadata["expected"]), cell(field.metadata["help"])


def _exit_codes() -> Iterator[list[str]]:
    yield from (line.split(maxsplit=1) for line in exit_code_lines())


def _sections(
    commands: Mapping[str, click.Command], above: click.Context, level: str
) -> Iterator[str]:
    for name, command in commands.items():
        context = click.Context(command, info_name=name, parent=above)
        yield f"{level} {context.command_path}"
        yield _text(command.help)
        if isinstance(command, click.Group):
            yield from _sections(command.commands, context, "###")
        else:
            usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
            parts = (f"```text\n{usage}\n```", _options(command, context), _examples(command))
            yield from filter(None, parts)


def _text(help_text: str | None) -> str:
    """Format a help text's paragraphs.

    A block that click keeps unwrapped becomes a code block.
    """
    paragraphs = inspect.cleandoc(help_text or "").split("\n\n")
    return "\n\n".join(
        f"```text\n{_KEPT_LINES.sub('', each)}\n```" if each.startswith("\b") else _prose(each)
        for each in paragraphs
    )


def _prose(paragraph: str) -> str:
    return " ".join(paragraph.split()).replace("<", "\\<")


def _options(command: click.Command, context: click.Context) -> str:
    """Tabulate a command's options.

    The names of options that equal those of `assemble` follow the table.
    """
    rows = _option_rows(command, context)
    same = set(rows) & set(_option_rows(BUILT_IN["assemble"].load(), context))
    if command.name == "assemble" or len(same) < _MANY:
        same = set()
    names = ", ".join(row[0].split(" ")[0].rstrip("`,") + "`" for row in rows if row in same)
    parts = (
        table(("option", "meaning"), [row for row in rows if row not in same])
        if len(rows) > len(same)
        else "",
        f"As in [`contextkit assemble`](#contextkit-assemble): {names}." if same else "",
    )
    return "\n\n".join(filter(None, parts))


def _option_rows(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    records = [
        parameter.get_help_record(context)
        for parameter in command.params
        if parameter.param_type_name == "option"
    ]
    return [(f"`{cell(record[0])}`", cell(record[1])) for record in records if record]


def _examples(command: click.Command) -> str:
    """Format the commands of an epilog.

    click shows an epilog below a command's help.
    """
    lines = inspect.cleandoc(command.epilog or "").replace("\b", "").splitlines()
    shown = [re.sub(r"^ *Examples?: *", "", line) for line in lines]
    examples = inspect.cleandoc("\n".join(["", *filter(None, shown)]))
    return f"```sh\n{examples}\n```" if examples else ""


def main() -> None:
    """Write the reference into the named page, or print it."""
    write_page(lambda page: filled(page, command_reference()))


if __name__ == "__main__":
    main()
