"""What is known of a plugin: where it comes from, and whether it can be used."""

from __future__ import annotations

import importlib.metadata
from typing import Literal

from attrs import frozen

from contextkit.errors import PluginError, in_words

__all__ = ["HOST", "PluginStatus", "State", "distribution_of", "imported"]

State = Literal["on", "off", "broken"]

HOST = "the host process"
"""What provides a plugin that has no distribution."""


@frozen(kw_only=True)
class PluginStatus:
    """What is known of one plugin.

    Attributes:
        name: the source's name.
        state: `on`, `off` or `broken`.
        reason: which setting switched it off, or why it is broken.
        distribution: what was installed to provide it.
        version: that distribution's version.
        is_source: False for a plugin without `contextkit_query`; None while it is off.
    """

    name: str
    state: State
    reason: str | None = None
    distribution: str = HOST
    version: str = ""
    is_source: bool | None = None


def imported(entry_point: importlib.metadata.EntryPoint) -> object:
    """The plugin that an entry point names; raises `PluginError` for whatever goes wrong."""
    try:
        return entry_point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # An import may raise anything, `SystemExit` and an extension's panic included.
        raise PluginError(in_words(error)) from error


def distribution_of(entry_point: importlib.metadata.EntryPoint) -> tuple[str, str]:
    """Name and version of what was installed to provide an entry point."""
    if entry_point.dist is None:
        return "an unknown distribution", ""
    # Each access parses the whole file anew, a README included.
    metadata = entry_point.dist.metadata
    return metadata["Name"], metadata["Version"]
