"""Call the hooks of one plugin at a time, so that results belong to it without guessing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pluggy

from contextkit.errors import ContextKitError, SourceError, StoreError, in_words
from contextkit.plugin.checks import Failed, log_failure
from contextkit.plugin.interrupts import is_interrupt
from contextkit.plugin.status import PluginStatus
from contextkit.plugin.times import NEVER_SKIPPED, hook_times

T = TypeVar("T")


class HookCalls:
    """Calls of hooks; the base of `SourceRegistry`."""

    __slots__ = ()

    _manager: pluggy.PluginManager
    _statuses: dict[str, PluginStatus]
    _callers: dict[tuple[str, str], Any]

    def implements(self, name: str, hook: str) -> bool:
        """Check whether a plugin has a hook, wrappers excluded."""
        return self.implementation(name, hook) is not None

    def implementation(self, name: str, hook: str) -> Callable[..., Any] | None:
        """Return the plugin's own function for a hook.

        Returns None where it has none. The function shows how the hook must be run.
        """
        for impl in getattr(self._manager.hook, hook).get_hookimpls():
            if impl.plugin_name == name and not _wraps(impl):
                return cast("Callable[..., Any]", impl.function)
        return None

    def plugin(self, name: str) -> object:
        """Return the plugin itself, or None if not loaded."""
        return self._manager.get_plugin(name)

    def wraps(self, name: str) -> bool:
        """Check whether a loaded plugin wraps the hooks of others."""
        callers = self._manager.get_hookcallers(self.plugin(name)) or ()
        impls = (impl for caller in callers for impl in caller.get_hookimpls())
        return any(_wraps(impl) and impl.plugin_name == name for impl in impls)

    def caller(self, name: str, hook: str) -> Callable[..., Any]:
        """Return the caller of one plugin's hook.

        Plugins that are on and are not sources may wrap it.
        """
        key = (name, hook)
        if key not in self._callers:
            others = [
                impl.plugin
                for impl in getattr(self._manager.hook, hook).get_hookimpls()
                if impl.plugin_name != name and not self._wraps_sources(impl)
            ]
            found = self._manager.subset_hook_caller(hook, others)
            first = found.spec is not None and found.spec.opts.get("firstresult")
            is_absent = first and not found.get_hookimpls()
            self._callers[key] = _absent if is_absent else found
        return cast("Callable[..., Any]", self._callers[key])

    def _wraps_sources(self, impl: pluggy.HookImpl) -> bool:
        status = self._statuses.get(impl.plugin_name)
        return _wraps(impl) and status is not None and status.state == "on" and not status.is_source

    def call(self, name: str, hook: str, /, **arguments: Any) -> Any:
        """Call one plugin's hook; None where it has none.

        Raises `SourceError`, from the cause, for any error of the hook. The store's own errors are
        raised unchanged.
        """
        try:
            result = self.caller(name, hook)(**arguments)
        except (SourceError, StoreError):
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            reason = str(error) if isinstance(error, ContextKitError) else in_words(error)
            raise SourceError(name, hook, reason) from error
        if inspect.iscoroutine(result) and hook != "contextkit_query":
            result.close()
            raise SourceError(name, hook, "only contextkit_query may be async")
        return result

    def attempt(
        self,
        name: str,
        hook: str,
        checked: Callable[[Any], T],
        /,
        failed: Failed = log_failure,
        **arguments: Any,
    ) -> T | None:
        """Call an optional hook, and report its failure.

        Within an assembly the call is timed. A plugin that held an earlier one, or this one
        already, is skipped, except for `contextkit_redact`.

        Args:
            name: the source.
            hook: one of its hooks.
            checked: what checks the result, and raises `SourceError`.
            failed: called with source, hook and reason.
            arguments: the hook's.

        Returns:
            The checked result; None where there is no hook, it gave None, it failed, or the plugin
            is skipped.
        """
        if self.caller(name, hook) is _absent:
            return None
        times = hook_times()
        if times is not None and hook != NEVER_SKIPPED and times.skips(name):
            return None
        began = times.begin() if times is not None else None
        try:
            result = self.call(name, hook, **arguments)
            return None if result is None else checked(result)
        except ContextKitError as error:
            failed(name, hook, error.reason if isinstance(error, SourceError) else str(error))
            return None
        except BaseException as error:
            if is_interrupt(error):
                raise
            failed(name, hook, in_words(error))
            return None
        finally:
            if times is not None and began is not None:
                times.add(name, hook, began)


def _absent(**_: Any) -> None:
    """The caller of a hook that neither the plugin nor a wrapper has."""


def _wraps(impl: pluggy.HookImpl) -> bool:
    return bool(impl.wrapper or impl.hookwrapper)
