"""Finding hooks that a plugin meant to implement and did not: silence would hide them."""

from __future__ import annotations

import inspect

from contextkit import hookspecs

__all__ = ["misspelt_hooks"]

_PREFIX = "contextkit_"
_MARK = "contextkit_impl"
HOOKS = tuple(name for name in vars(hookspecs) if name.startswith(_PREFIX))


def misspelt_hooks(plugin: object) -> list[str]:
    """What is wrong with a plugin's functions that are named like hooks, in words."""
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
