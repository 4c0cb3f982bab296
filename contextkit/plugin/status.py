"""Record a plugin's origin, state and misspelt hooks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from contextkit.config.settings import normalized
from contextkit.errors import DuplicateSourceError, PluginError, in_words
from contextkit.plugin import agent_spec, spec
from contextkit.plugin.installed import InstalledPlugin

State = Literal["on", "off", "broken"]

HOST = "the host process"
"""What provides a plugin that has no distribution."""


@frozen(kw_only=True)
class PluginStatus:
    """The status of one plugin.

    Attributes:
        name: the source's name.
        state: `on`, `off` or `broken`.
        reason: which setting switched it off, or why it is broken.
        distribution: the distribution that provides it.
        version: that distribution's version.
        is_source: False for a plugin without `contextkit_query`; None while it is off.
    """

    name: str
    state: State
    reason: str | None = None
    distribution: str = HOST
    version: str = ""
    is_source: bool | None = None


def imported(plugin: InstalledPlugin) -> object:
    """Import an installed plugin; any error raises `PluginError`."""
    try:
        return plugin.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # An import may raise any exception, even `SystemExit` or an extension's panic.
        raise PluginError(in_words(error)) from error


def refuse_duplicate(name: str, installed: Mapping[str, Sequence[InstalledPlugin]]) -> None:
    """Raise `DuplicateSourceError` where several entry points provide a source.

    Names that differ only in - and _ share one set of settings, and count as one source.

    Args:
        name: the source's name.
        installed: the entry points of each name.
    """
    same = [other for other in installed if normalized(other) == normalized(name)]
    found = [(each, other) for other in same for each in installed[other]]
    if len(found) > 1:
        providers = {provider_as(each.distribution, other, name) for each, other in found}
        raise DuplicateSourceError(name, sorted(providers))


def provider_as(distribution: str, name: str, wanted: str) -> str:
    """Name a source's distribution, and the differing name it uses.

    The name is left out where it equals the wanted one.
    """
    return distribution if name == wanted else f"{distribution} (as '{name}')"


_PREFIX = "contextkit_"
_MARK = "contextkit_impl"
SPECS = (spec, agent_spec)
HOOKS = {
    name: function
    for module in SPECS
    for name, function in vars(module).items()
    if name.startswith(_PREFIX)
}


def misspelt_hooks(plugin: object) -> list[str]:
    """Describe a plugin's misspelt, renamed or undecorated hooks."""
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
