"""Settings of sources that are not installed: most are misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from contextkit.config import Config, normalized
from contextkit.registry import SourceRegistry
from contextkit.registry.published import install_hint

__all__ = ["settings_of_absent"]


def settings_of_absent(config: Config, registry: SourceRegistry) -> Iterator[str]:
    """A line for each source that has settings and is not installed."""
    installed = {normalized(plugin.name): plugin.name for plugin in registry.plugins}
    for name in config.sources:
        if name in installed:
            continue
        origins = config.origins.items()
        where = next(str(origin) for key, origin in origins if key.startswith(f"sources.{name}."))
        nearest = difflib.get_close_matches(name, installed, n=1)
        hint = f"; did you mean '{installed[nearest[0]]}'?" if nearest else ""
        if install := install_hint(name):
            hint = f"; {install}"
        yield f"{where}: there are settings of the source '{name}', which is not installed{hint}"
