"""Check the hooks that neither find nor format items."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Mapping
from typing import Any

from contextkit.agent.tools import offered_tools
from contextkit.errors import InvalidRequestError, PluginError
from contextkit.pipeline.recipes import OfferedRecipe, build_recipe
from contextkit.plugin import checks
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import HOOKS
from contextkit.testing.queries import QUERIES
from contextkit.testing.subject import HELD_SECONDS, TRIES, NotConformingError, Subject, slowness
from contextkit.text.questions import signals_of

_NO_SETTING = "no-such-setting"


def check_hooks(source: object, name: str) -> None:
    """Check that hooks have known names and parameters.

    Only the query may be async.
    """
    registry = SourceRegistry(entry_points=False)
    try:
        registry.register(source, name)
    except PluginError as error:
        raise NotConformingError(str(error)) from error
    if not registry.implements(name, "contextkit_query"):
        raise NotConformingError(
            "it has no contextkit_query, so it is not a source: add one with @hookimpl"
        )
    for hook in HOOKS:
        function = registry.implementation(name, hook)
        if hook != "contextkit_query" and inspect.iscoroutinefunction(function):
            raise NotConformingError(
                f"{hook} is async, which only contextkit_query may be: make it a plain function"
            )


def check_info(subject: Subject) -> None:
    """Check that a source's description has single, stable lines."""
    info = subject.call("contextkit_source")
    if info is None:
        return
    checks.checked_info(subject.name, info)
    for field in ("title", "description"):
        if len(getattr(info, field).splitlines()) > 1:
            raise NotConformingError(
                f"contextkit_source: {field} has several lines: it stands in lists, on one"
            )
    if subject.has("contextkit_index") and (info.keep_days or info.keep_records):
        raise NotConformingError(
            "contextkit_source gives keep_days or keep_records, which have no effect where there "
            "is a contextkit_index: delete old records in the index run"
        )
    if subject.call("contextkit_source") != info:
        raise NotConformingError("contextkit_source returns something else at the second call")


def check_settings(subject: Subject) -> None:
    """Check that defaults are valid, and that problems name settings.

    Empty settings must be valid too. A problem's text begins with its setting.
    """
    hook = "contextkit_check_settings"
    if not subject.has(hook):
        return
    for settings in ({}, subject.kit.registry.info(subject.name).setting_defaults):
        for problem in _problems(subject, settings):
            raise NotConformingError(
                f"{hook} finds a problem in the defaults {settings}: {problem}"
            )
    for problem in _problems(subject, {_NO_SETTING: 1}):
        if problem.partition(":")[0].strip() != _NO_SETTING:
            raise NotConformingError(
                f"{hook} says {problem!r} of the setting '{_NO_SETTING}': "
                f"begin with its name and a colon"
            )


def _problems(subject: Subject, settings: Mapping[str, Any]) -> tuple[str, ...]:
    result = subject.call("contextkit_check_settings", settings=settings)
    return checks.checked_problems(subject.name, result or ())


def check_weight(subject: Subject) -> None:
    """Check that every query's weight is finite and over 0."""
    if not subject.has("contextkit_weight"):
        return
    for query in (subject.query, *QUERIES.values()):
        weight = subject.call("contextkit_weight", request=subject.request(query))
        if weight is not None:
            checks.checked_weight(subject.name, weight)
        if subject.call("contextkit_weight", request=subject.request(query)) != weight:
            raise NotConformingError(
                f"contextkit_weight says something else of {query!r:.60} the second time: the "
                f"same request must give the same context"
            )


def check_promptness(subject: Subject, held: float = HELD_SECONDS) -> None:
    """Check that hooks in the event loop are quick.

    All other sources wait for such a hook.

    Args:
        subject: the source.
        held: seconds for which a hook may block the loop.
    """
    request = subject.request()
    items = list(subject.found())
    arguments: Mapping[str, Mapping[str, Any]] = {
        "contextkit_weight": {"request": request},
        "contextkit_signals": {"query": subject.query, "signals": signals_of(subject.query)},
        "contextkit_dedup_keys": {"items": items},
        "contextkit_format": {"items": items, "style": "markdown", "detail": "full"},
    }
    for hook in filter(subject.has, arguments):
        least = math.inf
        for _ in range(TRIES):
            started = time.perf_counter()
            subject.call(hook, **arguments[hook])
            least = min(least, time.perf_counter() - started)
            if least < held or least < held * slowness():
                break
        else:
            raise NotConformingError(
                f"{hook} takes {least:.1f} s whenever it is called, in the event loop, where all "
                f"other sources wait for it: look up in contextkit_query what takes long"
            )


def check_recipes(subject: Subject, arguments: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that recipes have descriptions and can be built.

    `arguments` has the arguments of each recipe by its name.
    """
    results = subject.call("contextkit_recipes")
    for template in checks.checked_recipes(subject.name, results[0]) if results else ():
        if not template.description.strip():
            raise NotConformingError(f"the recipe '{template.name}' has no description")
        given = arguments.get(template.name, {})
        try:
            build_recipe(OfferedRecipe(subject.name, template), given)
        except InvalidRequestError as error:
            raise NotConformingError(
                f"the recipe '{template.name}' is not built from {dict(given)}: {error}; set "
                f"`recipe_arguments` = {{'{template.name}': …}} to what it takes"
            ) from error


def check_signals(subject: Subject) -> None:
    """Check that a query's signals are texts and an intent.

    They must be the same at every call.
    """
    hook = "contextkit_signals"
    if not subject.has(hook):
        return
    for query in (subject.query, *QUERIES.values()):
        asked = {"query": query, "signals": signals_of(query)}
        first = checks.checked_signals(subject.name, subject.call(hook, **asked))
        if checks.checked_signals(subject.name, subject.call(hook, **asked)) != first:
            raise NotConformingError(f"{hook} says something else of {query!r:.60} the second time")


def check_rerank(subject: Subject) -> None:
    """Check that scores are one per item and within 0..1.

    They must be the same at every call.
    """
    hook = "contextkit_rerank"
    items = list(subject.found())
    if not subject.has(hook) or not items:
        return
    asked: Mapping[str, Any] = {"request": subject.request(), "items": items}
    first = subject.call(hook, **asked)
    if first is not None:
        checks.checked_scores(subject.name, first, len(items))
    second = subject.call(hook, **asked)
    if (None if second is None else [*second]) != (None if first is None else [*first]):
        raise NotConformingError(
            f"{hook} gives other scores the second time: the same request must give the same "
            f"context"
        )


def check_health(subject: Subject) -> None:
    """Check that findings are single lines with remedies.

    Every finding that is not `ok` needs a remedy.
    """
    hook = "contextkit_health"
    if not subject.has(hook):
        return
    for found in checks.checked_health(subject.name, subject.call(hook, kit=subject.kit)):
        if any(len((text or "").splitlines()) > 1 for text in (found.text, found.remedy)):
            raise NotConformingError(f"{hook}: {found.text!r:.60} has several lines: use one")
        if found.state != "ok" and not found.remedy:
            raise NotConformingError(f"{hook}: {found.text!r:.60} has no remedy: say what to do")


def check_tools(subject: Subject) -> None:
    """Check each tool's name, description and types.

    A host must be able to describe the types.
    """
    failures: list[str] = []
    offered_tools(
        subject.kit.registry, lambda _, hook, reason: failures.append(f"{hook}: {reason}")
    )
    if failures:
        raise NotConformingError(failures[0])
