"""contextkit in Claude Code.

`hook` is the program that Claude Code runs; `plugin` adds the commands. Nothing is imported here: a
hook's process has some tens of milliseconds.
"""

from __future__ import annotations

__all__: list[str] = []
