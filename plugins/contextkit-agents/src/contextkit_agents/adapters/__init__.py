"""Adapters of coding agents, one module for each.

A module has the adapter's data, `files`, `read` and `answer`. It imports almost nothing, because
every hook of the agent loads it.
"""

from __future__ import annotations

__all__: list[str] = []

NAMES = ("claude-code", "codex", "copilot", "cursor", "gemini", "opencode")
