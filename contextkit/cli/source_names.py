"""Complete names of sources, and give hints for misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from contextkit.cli.session import Session
    from contextkit.config.settings import Config
    from contextkit.plugin.manager import SourceRegistry

_MOST_ABSENT = 5


def complete_sources(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete sources after those that the list already has."""
    return _completed(_sources(ctx), incomplete)


def complete_source(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete one source, as an argument of its own."""
    given = ctx.params.get(param.name or "") or ()
    return _items(
        name for name in _sources(ctx) if name.startswith(incomplete) and name not in given
    )


def complete_plugins(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete installed plugins without importing any."""
    import importlib.metadata

    from contextkit.plugin.spec import ENTRY_POINT_GROUP

    installed = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    return _completed((found.name for found in installed), incomplete)


def _sources(ctx: click.Context) -> list[str]:
    from contextkit.errors import ContextKitError

    session: Session = ctx.find_root().obj
    try:
        return [plugin.name for plugin in session.registry.plugins if plugin.is_source is not False]
    except ContextKitError:
        # The shell shows any output in the middle of the line that the user is typing.
        return []


def _completed(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    before, comma, begun = incomplete.rpartition(",")
    given = set(before.split(","))
    fitting = (name for name in names if name.startswith(begun) and name not in given)
    return _items(f"{before}{comma}{name}" for name in fitting)


def _items(values: Iterable[str]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(value) for value in sorted(set(values))]


def settings_of_absent(config: Config, registry: SourceRegistry) -> Iterator[str]:
    """Report each configured source that is not installed."""
    import difflib

    from contextkit.config.settings import normalized
    from contextkit.plugin.published import install_hint

    installed = {normalized(plugin.name): plugin.name for plugin in registry.plugins}
    absent = [name for name in config.sources if name not in installed]
    for name in absent[:_MOST_ABSENT]:
        origins = config.origins.items()
        where = next(str(origin) for key, origin in origins if key.startswith(f"sources.{name}."))
        nearest = difflib.get_close_matches(name, installed, n=1)
        hint = f"; did you mean '{installed[nearest[0]]}'?" if nearest else ""
        if install := install_hint(name):
            hint = f"; {install}"
        yield f"{where}: there are settings of the source '{name}', which is not installed{hint}"
    if len(absent) > _MOST_ABSENT:
        yield f"and of {len(absent) - _MOST_ABSENT:,} more sources that are not installed"
