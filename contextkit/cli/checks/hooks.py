"""Check the log of agents' hooks for answers that were late, incomplete or missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from contextkit.cli.checks.finding import Finding, fine, warning

_HOOKS = "hooks"
_SINCE = timedelta(hours=24)
_WHEN = "in the last 24 hours"
_LATE = "set hooks.sources to fewer sources, or raise hooks.timeout"


def hook_findings(log: Path) -> Iterator[Finding]:
    """Report what agents did not get in time, and the errors of hooks.

    Args:
        log: the log of agents' hooks; without one there are no findings.
    """
    if not log.is_file():
        return
    lines = list(_recent(log))
    late = [line for line in lines if line["event"] == "hook_late" and "process" not in line]
    missing = [line for line in lines if line["event"] == "sources_missing"]
    failed = [line for line in lines if line["event"] == "hook_failed"]
    nothing = len(late) + sum(line.get("got") == "nothing" for line in missing)
    less = sum(line.get("got") == "less" for line in missing)
    if nothing or less:
        sources = Counter(name for line in missing for name in line.get("sources", ()))
        named = ", ".join(f"{name} {count}" for name, count in sources.most_common())
        text = f"{_WHEN}, {nothing} events got nothing in time and {less} got less than was there"
        yield warning(_HOOKS, f"{text}{'; missing: ' if named else ''}{named}", _LATE)
    if failed:
        text = f"{_WHEN}, events failed: {len(failed)}, the last one: {failed[-1].get('reason')}"
        yield warning(_HOOKS, text, f"correct that, or see {log}")
    if not (nothing or less or failed):
        yield fine(_HOOKS, f"{_WHEN}, no event was late or failed")


def _recent(log: Path) -> Iterator[Mapping[str, Any]]:
    oldest = (datetime.now(UTC) - _SINCE).strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = [part for part in (log.with_suffix(".log.1"), log) if part.is_file()]
    texts = (part.read_text(encoding="utf-8", errors="replace") for part in parts)
    for text in chain.from_iterable(map(str.splitlines, texts)):
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and str(line.get("time")) >= oldest and "event" in line:
            yield line
