"""`contextkit-hook AGENT`: the program that agents run on events."""

from __future__ import annotations

import importlib
import sys

from contextkit.agent import answer_with, run_hook
from contextkit_agents.adapters import NAMES


def main() -> None:
    """Answer the event on standard input, then exit with 0."""
    # Versions of Claude Code before 2.1.139 leave out the arguments.
    name = sys.argv[1] if len(sys.argv) > 1 else "claude-code"
    if name in NAMES:
        module = f"contextkit_agents.adapters.{name.replace('-', '_')}"
        adapter = importlib.import_module(module)
        run_hook(answer_with(adapter.answer), adapter.read, name)
