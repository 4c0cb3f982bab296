"""Every agent's files fit their schemas, reduced to what contextkit writes.

They hold the fields, types and limits of the published schemas and references:

- Claude Code: settings, plugin manifest and marketplace at SchemaStore, August 2026.
- Codex: hooks and plugin manifest at SchemaStore, August 2026; its hooks' output schemas. Its
  marketplace has no published schema: the fields are those of its documentation.
- Gemini CLI 0.56, Cursor 2026, VS Code July 2026, Copilot 2026, OpenCode 1.x: no schemas of these
  files are published, or only parts; the fields are those of their documentation.

The whole published schemas are not kept here. `CONTEXTKIT_TEST_SCHEMAS` names a folder of them: of
SchemaStore's `src/schemas/json`, with Gemini CLI's `schemas/settings.schema.json`.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from contextkit.models import AgentAdapter, Scope
from contextkit_agents import adapters
from contextkit_agents.installing import Plan
from contextkit_agents.ours import offer_for
from contextkit_agents.plugin import contextkit_agents

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
NAME: Schema = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def only(required: dict[str, Schema], **optional: Schema) -> Schema:
    """An object with these members alone."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def events(names: list[str], entries: Schema) -> Schema:
    """Hooks by event: a list for each."""
    some = {"type": "array", "minItems": 1, "items": entries}
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"enum": names},
        "additionalProperties": some,
    }


def groups(handler: Schema) -> Schema:
    """Handlers with a matcher."""
    listed = {"type": "array", "minItems": 1, "items": handler}
    return only({"hooks": listed}, matcher=TEXT)


def servers(key: str, **more: Schema) -> Schema:
    """MCP servers by name."""
    server = only({"command": TEXT, "args": TEXTS, **more})
    return only({key: {"type": "object", "minProperties": 1, "additionalProperties": server}})


COMMAND: Schema = {"const": "command"}
SECONDS: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 600}
WHOLE_SECONDS: Schema = {**SECONDS, "type": "integer"}
MILLISECONDS: Schema = {"type": "number", "minimum": 1000}
AUTHOR = only({"name": TEXT})

CLAUDE_EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
]
CODEX_EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "Stop",
]
GEMINI_EVENTS = [
    "SessionStart",
    "BeforeAgent",
    "AfterTool",
    "AfterAgent",
    "PreCompress",
    "SessionEnd",
]
CURSOR_EVENTS = [
    "sessionStart",
    "postToolUse",
    "preCompact",
    "stop",
    "beforeSubmitPrompt",
    "sessionEnd",
]
COPILOT_EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PreCompact",
    "Stop",
]

CLAUDE_HOOKS = events(
    CLAUDE_EVENTS, groups(only({"type": COMMAND, "command": TEXT}, args=TEXTS, timeout=SECONDS))
)
CODEX_HOOKS = events(
    CODEX_EVENTS, groups(only({"type": COMMAND, "command": TEXT}, timeout=WHOLE_SECONDS))
)
GEMINI_HOOKS = events(
    GEMINI_EVENTS,
    groups(only({"type": COMMAND, "command": TEXT}, name=TEXT, timeout=MILLISECONDS)),
)
GEMINI_SERVERS = servers("mcpServers")["properties"]["mcpServers"]
STDIO: Schema = {"const": "stdio"}
PLUGIN = only({"name": NAME}, version=TEXT, description=TEXT, author=AUTHOR)
CODEX_INTERFACE = only(
    {
        **dict.fromkeys(("displayName", "shortDescription", "longDescription"), TEXT),
        **dict.fromkeys(("developerName", "category", "defaultPrompt"), TEXT),
        "capabilities": {**TEXTS, "minItems": 1},
    }
)
RELATIVE: Schema = {"type": "string", "pattern": "^\\./"}
CODEX_ENTRY = only(
    {
        "name": NAME,
        "source": only({"source": {"const": "local"}, "path": RELATIVE}),
        "policy": only(
            {
                "installation": {"enum": ["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"]},
                "authentication": {"enum": ["ON_INSTALL", "ON_USE"]},
            }
        ),
        "category": TEXT,
    }
)

SCHEMAS: dict[tuple[str, str], Schema] = {
    ("claude-code", ".claude/settings.json"): only({"hooks": CLAUDE_HOOKS}),
    ("claude-code", ".mcp.json"): servers("mcpServers", type=STDIO),
    ("claude-code", ".claude.json"): servers("mcpServers", type=STDIO),
    ("claude-code", ".claude-plugin/marketplace.json"): only(
        {
            "name": NAME,
            "owner": AUTHOR,
            "plugins": {
                "type": "array",
                "items": only(
                    {"name": NAME, "source": RELATIVE},
                    version=TEXT,
                    description=TEXT,
                    author=AUTHOR,
                ),
            },
        }
    ),
    ("claude-code", "claude-code/.claude-plugin/plugin.json"): PLUGIN,
    ("claude-code", "claude-code/hooks/hooks.json"): only({"hooks": CLAUDE_HOOKS}),
    ("claude-code", "claude-code/.mcp.json"): servers("mcpServers", type=STDIO),
    ("codex", ".codex/hooks.json"): only({"hooks": CODEX_HOOKS}),
    ("codex", ".codex/config.toml"): servers("mcp_servers"),
    ("codex", ".agents/plugins/marketplace.json"): only(
        {
            "name": NAME,
            "interface": only({"displayName": TEXT}),
            "plugins": {"type": "array", "items": CODEX_ENTRY},
        }
    ),
    ("codex", "codex/.codex-plugin/plugin.json"): only(
        {
            **dict.fromkeys(("version", "description"), TEXT),
            "name": NAME,
            "author": AUTHOR,
            "interface": CODEX_INTERFACE,
        },
        skills=RELATIVE,
        mcpServers=RELATIVE,
    ),
    ("codex", "codex/hooks/hooks.json"): only({"hooks": CODEX_HOOKS}),
    ("codex", "codex/.mcp.json"): servers("mcpServers"),
    ("gemini", ".gemini/settings.json"): only(
        {"hooks": GEMINI_HOOKS, "mcpServers": GEMINI_SERVERS}
    ),
    **{
        ("gemini", f"{folder}/{name}"): schema
        for folder in (".gemini/extensions/contextkit", "gemini")
        for name, schema in {
            "gemini-extension.json": only(
                {"name": {"const": "contextkit"}, "version": TEXT, "description": TEXT},
                mcpServers=GEMINI_SERVERS,
            ),
            "hooks/hooks.json": only({"hooks": GEMINI_HOOKS}),
        }.items()
    },
    ("cursor", ".cursor/hooks.json"): only(
        {
            "version": {"const": 1},
            "hooks": events(CURSOR_EVENTS, only({"command": TEXT}, matcher=TEXT, timeout=SECONDS)),
        }
    ),
    ("cursor", ".cursor/mcp.json"): servers("mcpServers"),
    **{
        ("copilot", f"{folder}/hooks/contextkit.json"): only(
            {
                "version": {"const": 1},
                "hooks": events(
                    COPILOT_EVENTS, only({"type": COMMAND, "command": TEXT}, timeout=SECONDS)
                ),
            }
        )
        for folder in (".github", ".copilot")
    },
    ("copilot", ".vscode/mcp.json"): servers("servers", type=STDIO),
    ("copilot", ".copilot/mcp-config.json"): servers(
        "mcpServers", type={"const": "local"}, tools=TEXTS
    ),
    **{
        ("opencode", path): only(
            {
                "mcp": {
                    "type": "object",
                    "additionalProperties": only(
                        {
                            "type": {"const": "local"},
                            "command": {**TEXTS, "minItems": 1},
                            "enabled": {"type": "boolean"},
                        }
                    ),
                }
            }
        )
        for path in ("opencode.json", ".config/opencode/opencode.json")
    },
}


PUBLISHED = {
    ".claude/settings.json": "claude-code-settings.json",
    ".claude-plugin/marketplace.json": "claude-code-marketplace.json",
    "claude-code/.claude-plugin/plugin.json": "claude-code-plugin-manifest.json",
    ".codex/hooks.json": "codex-hooks.json",
    "codex/hooks/hooks.json": "codex-hooks.json",
    "codex/.codex-plugin/plugin.json": "codex-plugin-manifest.json",
    ".gemini/settings.json": "settings.schema.json",
}


def test_an_adapter_is_one_short_file() -> None:
    """At most 80 lines, so that it can be read and imitated."""
    for file in Path(adapters.__file__).parent.glob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 80, file.name


@pytest.mark.parametrize("adapter", contextkit_agents(), ids=lambda adapter: adapter.name)
@pytest.mark.parametrize("scope", ["project", "user", "folder"])
def test_its_files_fit_their_schemas(adapter: AgentAdapter, scope: Scope, tmp_path: Path) -> None:
    """Each file that is written has a schema and fits it; writing it again changes nothing."""
    files = adapter.files(offer_for(adapter, shared=scope == "folder"), scope, tmp_path)
    plan = Plan(adapter.name)
    plan.install(files)
    plan.carry_out()
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert written == sorted(file.path for file in files)
    for path in written:
        name, text = path.relative_to(tmp_path).as_posix(), path.read_text(encoding="utf-8")
        # Programs are run by other tests.
        if path.suffix not in {".md", ".js"}:
            found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
            jsonschema.validate(found, SCHEMAS[adapter.name, name])
    again = Plan(adapter.name)
    again.install(files)
    assert not again.changes
    assert scope == "folder" or any(path.name == "SKILL.md" for path in written)


@pytest.mark.one_python
@pytest.mark.parametrize("adapter", contextkit_agents(), ids=lambda adapter: adapter.name)
@pytest.mark.parametrize("scope", ["project", "folder"])
def test_its_files_fit_the_whole_schemas(
    adapter: AgentAdapter, scope: Scope, tmp_path: Path
) -> None:
    """The published ones, as they are: they may say more than the parts that are kept here."""
    published = os.environ.get("CONTEXTKIT_TEST_SCHEMAS")
    if not published:
        pytest.skip("CONTEXTKIT_TEST_SCHEMAS names no folder of schemas")
    plan = Plan(adapter.name)
    plan.install(adapter.files(offer_for(adapter, shared=scope == "folder"), scope, tmp_path))
    plan.carry_out()
    for name, schema in PUBLISHED.items():
        if (tmp_path / name).exists():
            found = json.loads((tmp_path / name).read_bytes())
            jsonschema.validate(found, json.loads(Path(published, schema).read_bytes()))
