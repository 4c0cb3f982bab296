"""Request options on the command line, and texts from files.

`request_options` makes the options from the fields of `ContextRequest`: a flag for each common one,
and `--set NAME=VALUE` for all of them. Texts are read from arguments, files or standard input.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import Attribute

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.source_names import complete_sources
from contextkit.cli.strategies import complete_strategies
from contextkit.models.options import WORDS, values_of
from contextkit.models.request_options import OPTIONS, checked_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])


class Days(click.IntRange):
    """A number of days, as in `30` or `30d`."""

    name = "number of days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with what was given."""
        given: Any = value.strip().removesuffix("d") if isinstance(value, str) else value
        return super().convert(given, param, ctx)


MAX_STDIN_BYTES = 1_000_000
_STDIN = "contextkit.stdin"
_SET = "set_options"
_SWITCHES = ("true", "false")
_COMPLETERS = {"sources": complete_sources, "strategy": complete_strategies}


def request_options(*, without: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Add the options of a request to a command.

    The command gets them as `options`.

    Args:
        without: common options that the command has no flag for.
    """
    common = {
        name: each
        for name, each in OPTIONS.items()
        if each.metadata["common"] and name not in without
    }

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            flags = {name: given.pop(name) for name in common}
            assigned = given.pop(_SET)
            named = {name: value for name, value in flags.items() if value is not None}
            return command(*args, options={**named, **assigned}, **given)

        made: Any = _set_option(run)
        for name, each in reversed(common.items()):
            made = _flag(name, each)(made)
        return made  # type: ignore[no-any-return]

    return decorate


def _flag(name: str, field: Attribute[Any]) -> Callable[[Command], Command]:
    values = values_of(field)
    flags = field.metadata["flags"] or (f"--{name.replace('_', '-')}",)
    return click.option(
        *flags,
        name,
        # The request itself makes the only check, for the command line, Python and MCP alike.
        callback=_checked_flag,
        multiple=values.metavar == "NAMES",
        metavar=f"[{values.metavar}]" if values.choices else values.metavar,
        shell_complete=_COMPLETERS.get(name) or functools.partial(_completed, values.choices),
        help=field.metadata["help"],
    )


def _checked_flag(ctx: click.Context, option: click.Parameter, given: Any) -> Any:
    if given is None or given == ():
        return None
    name = option.name or ""
    if isinstance(given, str):
        return checked_option(name, given, as_text=True)
    found = [each for part in given for each in checked_option(name, part, as_text=True)]
    if not found:
        raise click.BadParameter("No source given.", ctx, option)
    return tuple(dict.fromkeys(found))


def _set_option(command: Command) -> Command:
    return click.option(
        "--set",
        _SET,
        multiple=True,
        metavar="NAME=VALUE",
        callback=_assigned,
        shell_complete=_complete_assignment,
        help="Set another option of the request; repeatable. `contextkit options` lists them.",
    )(command)


def _assigned(ctx: click.Context, option: click.Parameter, given: Sequence[str]) -> dict[str, Any]:
    """Parse the values of `--set a=1 --set b=2`.

    Repeated lists and tables are joined.
    """
    found: dict[str, Any] = {}
    for part in given:
        name, equals, raw = part.partition("=")
        name = name.strip()
        if not equals:
            message = f"expected NAME=VALUE, as in detail=compact, got '{part}'."
            raise click.BadParameter(message, ctx, option)
        if name in OPTIONS and values_of(OPTIONS[name]) is WORDS and raw.startswith("@"):
            raw = _text_of(raw[1:], option)
        value = checked_option(name, raw, as_text=True)
        before = found.get(name)
        if isinstance(value, tuple) and before:
            value = (*before, *value)
        elif isinstance(value, Mapping) and before:
            value = {**before, **value}
        found[name] = value
    return found


def _complete_assignment(
    ctx: click.Context, option: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete option names, then the values of the named option."""
    name, equals, begun = incomplete.partition("=")
    if not equals:
        return _completed([f"{each}=" for each in OPTIONS], ctx, option, incomplete)
    if name not in OPTIONS:
        return []
    values = values_of(OPTIONS[name])
    known = _SWITCHES if values.metavar == "|".join(_SWITCHES) else values.choices
    return _completed([f"{name}={each}" for each in known], ctx, option, f"{name}={begun}")


def _completed(
    known: Sequence[str], _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(each) for each in known if each.startswith(incomplete)]


no_index_option = click.option("--no-index", is_flag=True, help="Do not update the records first.")


@click.command(
    epilog="""\b
Examples:
  contextkit options
  contextkit assemble "why do we retry?" --set detail=compact --set weights=code=2
"""
)
@json_option
@pass_session
def options(session: Session, as_json: bool) -> None:
    """List the options of a request.

    `--set NAME=VALUE` sets any of them. DEFAULT is the value in your settings. Write lists as a,b
    and tables as a=1,b=2, or either as JSON.
    """
    rows = [
        {
            "name": name,
            "value": values_of(each).metavar,
            "default": _default(session, each),
            "help": each.metadata["help"],
        }
        for name, each in OPTIONS.items()
    ]
    cells = [[r["name"], r["value"], _shown(r["default"]), r["help"]] for r in rows]
    session.emit(rows, table(["NAME", "VALUE", "DEFAULT", ""], cells), as_json)


def _default(session: Session, field: Attribute[Any]) -> Any:
    """Return an option's default from the settings or the request.

    The request's own default counts where the settings have none.
    """
    own = None if "factory" in dir(field.default) else field.default
    found = getattr(session.config.assemble, field.name, own)
    return list(found) or None if isinstance(found, tuple) else found


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, list):
        return ",".join(default)
    return "-" if default in {None, ""} else str(default)


# -- texts ----------------------------------------------------------------------------------


def query_from(argument: str) -> str:
    """Read the query from the argument or standard input.

    The argument `-` stands for standard input. Bytes that are not UTF-8 become U+FFFD.

    Raises `click.UsageError` where there is no standard input or too much of it.
    """
    if argument != "-":
        return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return read_stdin("query")


def read_stdin(what: str) -> str:
    """Read standard input as text, once per command.

    It raises the same errors as `query_from`.
    """
    taken = click.get_current_context().meta
    if _STDIN in taken:
        raise click.UsageError(f"Standard input is already the {taken[_STDIN]}, not the {what}.")
    if sys.stdin is None:
        raise click.UsageError(f"Cannot read the {what}: standard input is closed.")
    taken[_STDIN] = what
    given = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(given) > MAX_STDIN_BYTES:
        raise click.UsageError(
            f"The {what} on standard input is longer than {MAX_STDIN_BYTES:,} bytes."
        )
    return given.decode("utf-8-sig", "replace")


def _text_of(place: str, option: click.Parameter) -> str:
    """Read a file, or standard input for `-`, as text."""
    if place == "-":
        return read_stdin("additional context")
    try:
        with Path(place).open("rb") as file:
            read = file.read(MAX_STDIN_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise click.BadParameter(f"cannot read '{place}': {reason}.", param=option) from None
    if len(read) > MAX_STDIN_BYTES:
        raise click.BadParameter(f"it is longer than {MAX_STDIN_BYTES:,} bytes.", param=option)
    return read.decode("utf-8-sig", "replace")
