"""Check the results of hooks.

An error names the plugin and the hook.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from contextkit.errors import SourceError
from contextkit.logs import get_logger
from contextkit.models.agents import AgentAdapter
from contextkit.models.health import HEALTH_STATES, HealthFinding
from contextkit.models.items import IndexReport
from contextkit.models.request import Recipe, RecipeTemplate, Section
from contextkit.models.source import Setting, SourceInfo, Tool
from contextkit.models.transcripts import SessionImporter
from contextkit.plugin.values import (
    OPTIONAL_TEXT,
    Kinds,
    check_fields,
    described,
    names_of,
    one_per_item,
    sequence_of,
    texts_of,
)
from contextkit.text.secrets import SecretSpan
from contextkit.text.signals import QuerySignals

_INFO_FIELDS: Kinds = {
    "title": (str,),
    "description": (str,),
    "priority": (int,),
    "scale": (str,),
    "embedder": (str,),
    "updates": (bool,),
    "cacheable": (bool,),
    "count_filters": (Mapping,),
    "records_of": (str,),
    "indexed_fields": (list, tuple),
    "keep_days": (int, float, type(None)),
    "keep_records": (int, type(None)),
    "kind_field": (str,),
    "entity_type_field": (str,),
    "dated": (bool,),
    "reads": (list, tuple),
    "settings": (Mapping, type(None)),
    "commands": (Mapping,),
}
_REPORT_FIELDS: Kinds = {
    **dict.fromkeys(("added", "updated", "removed", "unchanged", "redacted", "remaining"), (int,)),
    "skipped": (list, tuple),
    "notes": (list, tuple),
}
_SPAN_FIELDS: Kinds = {"start": (int,), "end": (int,), "kind": (str,)}
_HEALTH_FIELDS: Kinds = {"state": (str,), "text": (str,), "remedy": OPTIONAL_TEXT}
_SPAN_KIND = re.compile(r"[^\]\n\r]{1,60}")
_TOOL_FIELDS: Kinds = {
    "name": (str,),
    "description": (str,),
    "read_only": (bool,),
    "destructive": (bool,),
}
_TEMPLATE_FIELDS: Kinds = {"name": (str,), "description": (str,)}
_RECIPE_FIELDS: Kinds = {"title": (str,), "sections": (list, tuple), "footer": (str,)}
_SECTION_FIELDS: Kinds = {
    "source": (str,),
    "key": (str,),
    "title": OPTIONAL_TEXT,
    "query": OPTIONAL_TEXT,
    "filters": (Mapping,),
}


def checked_texts(source: str, result: object, items: int) -> tuple[str, ...]:
    """Check `contextkit_format`'s result: one text per item."""
    texts = texts_of(source, "contextkit_format", result, items + 1)
    one_per_item(source, "contextkit_format", len(texts), items)
    return texts


def checked_text(source: str, result: object) -> str:
    """Check `contextkit_truncate`'s result."""
    if not isinstance(result, str):
        raise SourceError(
            source, "contextkit_truncate", f"expected a text, got {described(result)}"
        )
    return texts_of(source, "contextkit_truncate", [result], 1)[0]


def checked_summaries(plugin: str, result: object, items: int) -> tuple[str | None, ...]:
    """Check `contextkit_compress`'s result: a text or None per item."""
    hook = "contextkit_compress"
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(plugin, hook, f"expected a sequence, got {described(result)}")
    one_per_item(plugin, hook, len(result), items)
    sequence_of(plugin, hook, ["" if text is None else text for text in result], str)
    return tuple(result)


def checked_scores(plugin: str, result: object, items: int) -> tuple[float, ...]:
    """Check `contextkit_rerank`'s result: a score within 0..1 per item."""
    hook = "contextkit_rerank"
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(plugin, hook, f"expected a sequence of numbers, got {described(result)}")
    one_per_item(plugin, hook, len(result), items)
    for position, score in enumerate(result):
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            raise SourceError(
                plugin,
                hook,
                f"score {position} is {described(score)}, expected a number within 0..1",
            )
        if not 0 <= score <= 1:
            raise SourceError(
                plugin, hook, f"score {position} is {score}, expected a number within 0..1"
            )
    return tuple(map(float, result))


def checked_health(plugin: str, results: Sequence[object]) -> tuple[HealthFinding, ...]:
    """Check one plugin's `contextkit_health` result.

    Each finding has a known state and a text.
    """
    hook = "contextkit_health"
    # pluggy leaves None out of the hook's results.
    findings = sequence_of(plugin, hook, results[0] if results else (), HealthFinding)
    for finding in findings:
        check_fields(plugin, hook, "HealthFinding", finding, _HEALTH_FIELDS)
        if finding.state not in HEALTH_STATES:
            states = ", ".join(HEALTH_STATES)
            raise SourceError(
                plugin, hook, f"HealthFinding: state is {finding.state!r}, expected one of {states}"
            )
        if not finding.text.strip():
            raise SourceError(plugin, hook, "HealthFinding: text is empty")
    return findings


def checked_keys(source: str, result: object, items: int) -> tuple[tuple[str, ...], ...]:
    """Check `contextkit_dedup_keys`'s result: a sequence of keys per item."""
    hook = "contextkit_dedup_keys"
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(source, hook, f"expected a sequence, got {described(result)}")
    per_item = tuple(islice(result, items + 1))
    one_per_item(source, hook, len(per_item), items)
    return tuple(names_of(source, hook, keys) for keys in per_item)


def checked_tokenizer(plugin: str, result: object) -> Callable[[str], Any]:
    """Check `contextkit_tokenizer`'s result: it must be callable.

    Each count is checked when the tokenizer is called.
    """
    if not callable(result):
        reason = f"expected a function of a text, got {described(result)}"
        raise SourceError(plugin, "contextkit_tokenizer", reason)
    return cast("Callable[[str], Any]", result)


def checked_weight(source: str, result: object) -> float:
    """Check `contextkit_weight`'s result: a finite number over 0."""
    if isinstance(result, bool) or not isinstance(result, (int, float)):
        raise SourceError(
            source, "contextkit_weight", f"expected a number, got {described(result)}"
        )
    weight = float(result)
    if not 0 < weight < math.inf:
        raise SourceError(source, "contextkit_weight", f"expected a number over 0, got {result}")
    return weight


def checked_info(source: str, result: object) -> SourceInfo:
    """Check `contextkit_source`'s result."""
    hook = "contextkit_source"
    if not isinstance(result, SourceInfo):
        raise SourceError(source, hook, f"expected a SourceInfo, got {described(result)}")
    check_fields(source, hook, "SourceInfo", result, _INFO_FIELDS)
    sequence_of(source, hook, result.indexed_fields, str)
    sequence_of(source, hook, result.reads, str)
    for key, value in (result.settings or {}).items():
        if not _is_setting(key, value):
            reason = "a Setting, a text, a number, true or false, or a list of texts"
            raise SourceError(
                source, hook, f"settings: {key!r} is {described(value)}, expected {reason}"
            )
    for name, command in result.commands.items():
        if not isinstance(command, tuple) or [*map(type, (name, *command))] != [str] * 3:
            reason = "expected a name and a tuple of target and summary"
            raise SourceError(source, hook, f"commands: {name!r} is {command!r:.80}, {reason}")
    return result


def _is_setting(key: object, value: object) -> bool:
    """Check whether a TOML settings file can hold this setting.

    The key must be bare, and the value must not contain a date.
    """
    default = value.default if isinstance(value, Setting) else value
    values = default if isinstance(default, (list, tuple)) else [default]
    bare = isinstance(key, str) and re.fullmatch(r"[A-Za-z0-9_-]+", key) is not None
    return bare and all(isinstance(each, (str, int, float)) for each in values)


def checked_problems(source: str, result: object) -> tuple[str, ...]:
    """Check `contextkit_check_settings`'s result."""
    return sequence_of(source, "contextkit_check_settings", result, str)


def checked_report(source: str, result: object) -> IndexReport:
    """Check `contextkit_index`'s result."""
    hook = "contextkit_index"
    if not isinstance(result, IndexReport):
        raise SourceError(source, hook, f"expected an IndexReport, got {described(result)}")
    check_fields(source, hook, "IndexReport", result, _REPORT_FIELDS)
    sequence_of(source, hook, result.notes, str)
    for skipped in sequence_of(source, hook, result.skipped, tuple):
        if len(skipped) != 2 or not all(isinstance(part, str) for part in skipped):
            raise SourceError(source, hook, f"skipped has {skipped!r}, expected (what, why)")
    return result


def checked_signals(plugin: str, results: Sequence[object]) -> QuerySignals:
    """Check one plugin's `contextkit_signals` result.

    None gives empty signals.
    """
    hook = "contextkit_signals"
    # pluggy leaves None out of the hook's results.
    result = results[0] if results else QuerySignals()
    if not isinstance(result, QuerySignals):
        raise SourceError(plugin, hook, f"expected QuerySignals, got {described(result)}")
    names = {
        name: names_of(plugin, hook, getattr(result, name))
        for name in ("keywords", "entities", "kinds")
    }
    return QuerySignals(**names, intent=result.intent, topics=result.topics)


def checked_spans(
    plugin: str, texts: Sequence[str], results: Sequence[object]
) -> tuple[tuple[SecretSpan, ...], ...]:
    """Check one plugin's `contextkit_redact` result.

    It has spans per text, each within its text.
    """
    hook = "contextkit_redact"
    # pluggy leaves None out of the hook's results.
    result = results[0] if results else [()] * len(texts)
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(plugin, hook, f"expected a sequence, got {described(result)}")
    if len(result) != len(texts):
        raise SourceError(plugin, hook, f"returned {len(result)} results for {len(texts)} texts")
    checked = tuple(sequence_of(plugin, hook, spans, SecretSpan) for spans in result)
    for text, spans in zip(texts, checked, strict=True):
        for span in spans:
            check_fields(plugin, hook, "SecretSpan", span, _SPAN_FIELDS)
            if not 0 <= span.start < span.end <= len(text):
                reason = f"{span} is not a part of a text of {len(text)} characters"
                raise SourceError(plugin, hook, reason)
            if not _SPAN_KIND.fullmatch(span.kind):
                reason = f"kind must be 1 to 60 characters on one line without ], got {span.kind!r}"
                raise SourceError(plugin, hook, reason)
    return checked


def checked_recipes(plugin: str, result: object) -> tuple[RecipeTemplate, ...]:
    """Check `contextkit_recipes`'s result."""
    hook = "contextkit_recipes"
    templates = sequence_of(plugin, hook, result, RecipeTemplate)
    for template in templates:
        check_fields(plugin, hook, "RecipeTemplate", template, _TEMPLATE_FIELDS)
        if not callable(template.build):
            raise SourceError(plugin, hook, f"RecipeTemplate: build is {described(template.build)}")
    return templates


def checked_tools(plugin: str, result: object) -> tuple[Tool, ...]:
    """Check `contextkit_tools`'s result.

    Each tool's function is checked when the tool is offered.
    """
    hook = "contextkit_tools"
    tools = sequence_of(plugin, hook, result, Tool)
    for tool in tools:
        check_fields(plugin, hook, f"Tool {tool.name!r}", tool, _TOOL_FIELDS)
        if not callable(tool.run):
            raise SourceError(plugin, hook, f"Tool {tool.name!r}: run is {described(tool.run)}")
    return tools


def checked_importers(plugin: str, results: Sequence[object]) -> tuple[SessionImporter, ...]:
    """Check one plugin's `contextkit_importers` result."""
    hook = "contextkit_importers"
    # pluggy leaves None out of the hook's results.
    importers = sequence_of(plugin, hook, results[0] if results else (), SessionImporter)
    for importer in importers:
        _check_offer(plugin, hook, importer, "find")
    return importers


def checked_adapters(plugin: str, results: Sequence[object]) -> tuple[AgentAdapter, ...]:
    """Check one plugin's `contextkit_agents` result."""
    hook = "contextkit_agents"
    adapters = sequence_of(plugin, hook, results[0] if results else (), AgentAdapter)
    for adapter in adapters:
        _check_offer(plugin, hook, adapter, "files", "read", "answer")
    return adapters


def _check_offer(plugin: str, hook: str, offer: Any, *functions: str) -> None:
    named = isinstance(offer.name, str) and re.fullmatch(r"[a-z][a-z0-9-]{0,39}", offer.name)
    if not (named and all(callable(getattr(offer, name)) for name in functions)):
        what = " and ".join(f"a function {name}" for name in functions)
        reason = f"expected a name such as claude-code and {what}, got {offer!r}"
        raise SourceError(plugin, hook, reason)


def checked_recipe(plugin: str, result: object) -> Recipe:
    """Check the result of a recipe's `build`.

    Sections must have different keys, and the footer must be usable.
    """
    hook = "contextkit_recipes"
    if not isinstance(result, Recipe):
        raise SourceError(plugin, hook, f"build returned {described(result)}, expected a Recipe")
    what = f"recipe {result.name!r}"
    check_fields(plugin, hook, what, result, _RECIPE_FIELDS)
    keys = set()
    for section in sequence_of(plugin, hook, result.sections, Section):
        check_fields(plugin, hook, f"{what}: section {section.key!r}", section, _SECTION_FIELDS)
        if section.key in keys:
            raise SourceError(plugin, hook, f"{what}: two sections have the key {section.key!r}")
        keys.add(section.key)
    try:
        result.footer.format(items=0, sources=0, counts=Counter[str](), s=defaultdict(str))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{what}: its footer cannot be filled in: {error!r}"
        raise SourceError(plugin, hook, reason) from error
    return result


_log = get_logger(__name__)

Failed = Callable[[str, str, str], None]
"""Takes note of a failed hook whose default is used instead: source, hook, reason."""


def log_failure(source: str, hook: str, reason: str) -> None:
    """Log a failed hook whose default is used instead."""
    _log.warning("hook_failed", source=source, hook=hook, reason=reason)
