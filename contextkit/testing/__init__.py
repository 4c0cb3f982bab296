"""Test helpers for plugins: conformance suite, records, kits and commands.

```python
from contextkit.testing import SourceConformance

import my_weather

class TestWeather(SourceConformance):
    source = my_weather
    query = "rain in Berlin"
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.testing.command_lines import CommandLine, command_line, printed_json
    from contextkit.testing.conformance import SourceConformance
    from contextkit.testing.kits import ToolCaller, open_kit
    from contextkit.testing.processes import run_together
    from contextkit.testing.repositories import Git, own_git
    from contextkit.testing.stores import HashingModel, make_indexer, open_records
    from contextkit.testing.surroundings import file_permissions_apply, own_home, write_distribution
    from contextkit.testing.users import OwnUser, own_user, wait_until

__all__ = [
    "CommandLine",
    "Git",
    "HashingModel",
    "OwnUser",
    "SourceConformance",
    "ToolCaller",
    "command_line",
    "file_permissions_apply",
    "make_indexer",
    "open_kit",
    "open_records",
    "own_git",
    "own_home",
    "own_user",
    "printed_json",
    "run_together",
    "wait_until",
    "write_distribution",
]

_HOME = {
    "CommandLine": "command_lines",
    "Git": "repositories",
    "HashingModel": "stores",
    "OwnUser": "users",
    "SourceConformance": "conformance",
    "ToolCaller": "kits",
    "command_line": "command_lines",
    "file_permissions_apply": "surroundings",
    "make_indexer": "stores",
    "open_kit": "kits",
    "open_records": "stores",
    "own_git": "repositories",
    "own_home": "surroundings",
    "own_user": "users",
    "printed_json": "command_lines",
    "run_together": "processes",
    "wait_until": "users",
    "write_distribution": "surroundings",
}


def __getattr__(name: str) -> Any:
    # Only the conformance suite needs pytest, and only the stores need the engine.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
