"""Write a project's first `contextkit.toml`.

Every setting is in it as a comment, at its default or with an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from contextkit.config.sections import (
    SECTIONS,
    AssembleSettings,
    RankingSettings,
    SourceSettings,
    settings_of,
)
from contextkit.config.settings import section_about
from contextkit.config.write import to_toml
from contextkit.models.source import Setting
from contextkit.models.strategy import Strategy
from contextkit.pipeline.overview import source_overview
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import PluginStatus
from contextkit.workspace.facts import WorkspaceFacts

_SOURCES = frozenset({"sources", "start_sources"})
_AS_IN_ASSEMBLE = {"timeout": "source_timeout", "limit": "limit", "min_relevance": "min_relevance"}


_LIMIT = 20
_UNSET = {"limit": _LIMIT, "concurrent_sources": 5}
"""Examples of settings that are not set by default."""

_PATIENT = frozenset({"source_timeout", "deadline"})
"""Settings for which commands have a default of their own."""

_EXAMPLE = "(example) "

_ELSEWHERE = frozenset({"name", *(a.name for a in settings_of(RankingSettings))})


def config_template(facts: WorkspaceFacts, registry: SourceRegistry, root: Path) -> str:
    """Make the template's text, valid TOML with commented settings.

    The file changes nothing until a line is uncommented. A line that begins with `#` and no blank
    after it is a setting; the other comment lines are prose.

    Args:
        facts: the facts about the workspace.
        registry: the plugins.
        root: the workspace's root folder.
    """
    lines = [*_heading(facts, root), *_project(root), *_sections(registry.sources)]
    lines += _strategy()
    for status in registry.plugins:
        lines += _source(registry, status, root)
    return "\n".join(lines) + "\n"


def _heading(facts: WorkspaceFacts, root: Path) -> Iterator[str]:
    yield f"# contextkit settings of {_in_comment(root.name) or 'this workspace'}."
    yield "# A line that starts with # and a name is a setting at its default, or an (example). To"
    yield "# change it, remove the #. `contextkit config show` prints every value and its origin."
    yield "# The location of records and the embedding model are set in your own config.toml."
    yield "#"
    history = "no history" if facts.commits is None else f"{facts.commits:,} commits"
    yield f"# Found here: {facts.files:,} files, {history}."
    for kind in facts.kinds:
        yield f"#   {kind.files:>7,}  {kind.suffix}  {kind.language or ''}".rstrip()
    if facts.documents:
        yield f"# Documentation: {', '.join(map(_in_comment, facts.documents))}"
    yield ""


def _project(root: Path) -> Iterator[str]:
    name = root.name if root.name.isprintable() and root.name else "my-project"
    yield "# Project that the records belong to; folders with this name share them once linked."
    yield "# Without it, they belong to this repository and its work trees, or to this folder."
    yield _setting("project", name, _EXAMPLE.strip())


def _sections(sources: Sequence[str]) -> Iterator[str]:
    for section, kind in SECTIONS.items():
        attributes = [a for a in settings_of(kind) if a.metadata["rule"] != "user"]
        if not attributes:
            continue
        yield f"\n# {section_about(kind)}\n[{section}]"
        for attribute in attributes:
            value = sources if attribute.name in _SOURCES else attribute.default
            value = _UNSET.get(attribute.name, value)
            example = _EXAMPLE if attribute.default is None or attribute.name in _PATIENT else ""
            yield _setting(attribute.name, value, f"{example}{attribute.metadata['help']}")


def _strategy() -> Iterator[str]:
    yield "\n# The default strategy, beside [ranking]. Other names add strategies."
    yield "[strategies.default]"
    for attribute in settings_of(Strategy):
        # Settings that default to [ranking] or [assemble] are listed there.
        if attribute.name not in _ELSEWHERE and attribute.default is not None:
            yield _setting(attribute.name, attribute.default, attribute.metadata["expected"])


def _source(registry: SourceRegistry, status: PluginStatus, root: Path) -> Iterator[str]:
    row = source_overview(registry, status, root).as_dict()
    about = [_in_comment(f"{status.distribution} {status.version}".strip())]
    if status.state != "on":
        about.append(f"{status.state}: {_in_comment(status.reason or '')}")
    elif not status.is_source:
        about.append("not a source, only other hooks")
    elif row["description"]:
        about.append(_in_comment(row["description"]))
    yield f"\n# {'; '.join(about)}\n[sources.{status.name}]"
    for attribute in settings_of(SourceSettings):
        name = attribute.name
        if attribute.metadata["rule"] == "user" or (name != "enabled" and not status.is_source):
            continue
        value, expected = attribute.default, attribute.metadata["expected"]
        if name in _AS_IN_ASSEMBLE:
            value = getattr(AssembleSettings(), _AS_IN_ASSEMBLE[name]) or _LIMIT
            example = "" if name == "min_relevance" else _EXAMPLE
            expected = f"{example}{expected}; default: that of [assemble]"
        elif value is None:
            value = row[name]
        yield _setting(name, value, expected)
    if status.state == "on":
        info = registry.info(status.name)
        for name, value in (info.settings or {}).items():
            if info.setting(name).rule == "user":
                continue
            expected = value.expected if isinstance(value, Setting) else ""
            yield _setting(name, info.setting(name).default, expected)


def _setting(name: str, value: Any, expected: str = "") -> str:
    return f"#{name} = {to_toml(value)}" + (f"  # {expected}" if expected else "")


def _in_comment(text: str) -> str:
    """Make a text safe on a comment's line."""
    return "".join(c if c.isprintable() else " " for c in text).strip()
