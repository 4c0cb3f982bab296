"""Generate the reference of all hooks from `contextkit.plugin.spec`.

The reference is Markdown.

`python -m contextkit.testing.hook_reference FILE` writes it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from contextkit.models.agents import AgentAdapter, AgentFile, AgentOffer
from contextkit.models.context import FormattedContext
from contextkit.models.health import HealthFinding
from contextkit.models.indexer import Indexer
from contextkit.models.items import ContextItem, IndexReport
from contextkit.models.record import Hit, Range, Record
from contextkit.models.records import Records, RecordsView
from contextkit.models.request import ContextRequest, Recipe, RecipeTemplate, Section
from contextkit.models.source import Setting, SourceInfo, Tool, ToolResult
from contextkit.models.transcripts import (
    Imported,
    ImportedSession,
    LeftOut,
    PastEvent,
    SessionImporter,
    Transcript,
)
from contextkit.plugin import spec
from contextkit.plugin.status import HOOKS
from contextkit.testing.reference import cell, described_fields, table, without_fields, write_page
from contextkit.text.secrets import SecretSpan
from contextkit.text.signals import QuerySignals

_VALUES = (
    ContextItem,
    ContextRequest,
    FormattedContext,
    QuerySignals,
    SecretSpan,
    HealthFinding,
    SourceInfo,
    Setting,
    IndexReport,
    RecipeTemplate,
    Recipe,
    Section,
    Indexer,
    Record,
    Records,
    RecordsView,
    Hit,
    Range,
    Tool,
    ToolResult,
    SessionImporter,
    Transcript,
    PastEvent,
    LeftOut,
    ImportedSession,
    Imported,
    AgentAdapter,
    AgentOffer,
    AgentFile,
)
_HEAD = """\
# The hooks

<!-- Made from contextkit/plugin/spec.py by `python -m contextkit.testing.hook_reference`. -->

How a plugin is begun, tested and published is in the [guide](README.md). """
_VALUES_HEAD = """\
# What hooks get and give

All of these can be imported from `contextkit`; the last nine, of agents, from
`contextkit.models`."""
_DEFAULT = re.compile(r"`None`(?: or empty)?: (.+?)(?:[.;]\s|[.;]?$)")
_CALLED = re.compile(r"Called (.+?)(?:[.:;]\s|[.:;]?$)")


def hook_reference() -> str:
    """Generate the page of all hooks.

    It has the hooks' common rules, a table, each hook, and the values.
    """
    functions = list(HOOKS.values())
    parts = [
        _HEAD + inspect.cleandoc(spec.__doc__ or ""),
        table(("hook", "what for", "called", "without it"), _rows(functions)),
        *map(_hook, functions),
        _VALUES_HEAD,
        *map(_value, _VALUES),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(functions: list[Callable[..., Any]]) -> Iterator[tuple[str, ...]]:
    for function in functions:
        text = cell(_described(function))
        what = re.split(r"\.(?:\s|$)", text)[0]
        called = _found(_CALLED, text) or "once per source and batch"
        name = function.__name__
        yield f"[`{name}`](#{name})", what, called, _without(text)


def _without(text: str) -> str:
    return "it is not a source" if "is a source" in text else _found(_DEFAULT, text) or "nothing"


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _described(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def _hook(function: Callable[..., Any]) -> str:
    name = function.__name__
    options = getattr(function, "contextkit_spec", {})
    asked = "one plugin at a time" if options.get("firstresult") else "every plugin that has it"
    text = _described(function)
    signature = _signature(name, inspect.signature(function))
    return f"## {name}\n\n```python\n{signature}\n```\n\nAsked: {asked}.\n\n{text}"


def _signature(name: str, signature: inspect.Signature) -> str:
    line = f"def {name}{signature}".replace("'", "")
    if len(line) <= 88:
        return line
    arguments = "".join(f"    {p},\n" for p in signature.parameters.values()).replace("'", "")
    gives = str(signature.return_annotation)
    return f"def {name}(\n{arguments}) -> {gives}"


def _value(kind: type[Any]) -> str:
    text = _described(kind)
    meanings = {
        **dict(described_fields(text)),
        **{a.name: cell(a.metadata["help"]) for a in attrs.fields(kind) if "help" in a.metadata},
    }
    types = _types(kind)
    rows = [
        (f"`{field.name}`", types[field.name], _default(field), meanings[field.name])
        # Required fields come first.
        for field in sorted(attrs.fields(kind), key=lambda a: a.default is not attrs.NOTHING)
        if field.name in meanings
    ]
    fields = table(("field", "type", "default", "meaning"), rows) if rows else ""
    methods = "\n".join(_methods(kind))
    parts = (f"## {kind.__name__}", without_fields(text), fields, methods)
    return "\n\n".join(filter(None, parts))


def _types(kind: type[Any]) -> dict[str, str]:
    """Map each field to its type as written.

    Other code may have resolved the type meanwhile.
    """
    written: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        written |= vars(each).get("__annotations__", {})
    return {name: f"`{text}`".replace("|", "\\|") for name, text in written.items()}


def _default(field: attrs.Attribute[Any]) -> str:
    default = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        made = getattr(default, "factory", None)
        return f"`{made()!r}`" if made in {dict, list, tuple} else "computed"
    return f"`{default!r}`".replace("|", "\\|")


def _methods(kind: type[Any]) -> Iterator[str]:
    """Describe public methods and properties by their docstrings' first lines."""
    members = {k: v for each in reversed(kind.__mro__) for k, v in vars(each).items()}
    for name, member in members.items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        called = name if isinstance(member, property) else f"{name}{inspect.signature(member)}"
        called = called.replace("(self, ", "(").replace("(self)", "()").replace("'", "")
        awaited = "await " if inspect.iscoroutinefunction(member) else ""
        yield f"- `{awaited}{called}`: {_described(member).splitlines()[0]}"


def main() -> None:
    """Write the page to a file or standard output."""
    write_page(lambda _: hook_reference())


if __name__ == "__main__":
    main()
