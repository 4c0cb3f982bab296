"""Status of a plugin: where it comes from, its state, and misspelt hooks."""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from contextkit.config.settings import normalized
from contextkit.errors import DuplicateSourceError, PluginError, in_words
from contextkit.plugin import spec as hookspecs

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


def refuse_duplicate(
    name: str, installed: Mapping[str, Sequence[importlib.metadata.EntryPoint]]
) -> None:
    """Raise `DuplicateSourceError` where several entry points provide a source.

    Names that differ in - and _ alone have one set of settings, and are one source's.

    Args:
        name: the source's.
        installed: the entry points of each name.
    """
    same = [other for other in installed if normalized(other) == normalized(name)]
    found = [(each, other) for other in same for each in installed[other]]
    if len(found) > 1:
        providers = {provider_as(distribution_of(each)[0], other, name) for each, other in found}
        raise DuplicateSourceError(name, sorted(providers))


def provider_as(distribution: str, name: str, wanted: str) -> str:
    """Who provides a source, and as what where that is not the name that is wanted."""
    return distribution if name == wanted else f"{distribution} (as '{name}')"


_PREFIX = "contextkit_"
_MARK = "contextkit_impl"
HOOKS = tuple(name for name in vars(hookspecs) if name.startswith(_PREFIX))


def misspelt_hooks(plugin: object) -> list[str]:
    """What is wrong with a plugin's functions that are named like hooks."""
    problems = []
    for name, function in inspect.getmembers(plugin, callable):
        if _other_name(function):
            # pluggy cannot leave such a function out when it calls another source's hook.
            problems.append(f"'{name}' must be named like its hook, without specname")
        if not name.startswith(_PREFIX):
            continue
        if name not in HOOKS:
            import difflib

            nearest = difflib.get_close_matches(name, HOOKS, n=1)
            hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
            problems.append(f"there is no hook '{name}'{hint}")
        elif not hasattr(function, _MARK):
            problems.append(f"'{name}' lacks the @hookimpl decorator")
    return problems


def _other_name(function: object) -> bool:
    options = getattr(function, _MARK, None)
    return isinstance(options, dict) and bool(options.get("specname"))
