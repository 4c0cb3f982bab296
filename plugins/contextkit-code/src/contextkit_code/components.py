"""Find the program in a component's file: Vue's, Svelte's and Astro's files hold markup too."""

from __future__ import annotations

import re
from collections.abc import Sequence

COMPONENTS = frozenset({"astro", "svelte", "vue"})
"""Languages whose files hold a program in TypeScript."""

_OPENS = re.compile(r"<script\b.*>$", re.IGNORECASE)
_CLOSES = re.compile(r"</script\s*>", re.IGNORECASE)
_FENCE = "---"


def script_of(lines: Sequence[str]) -> bytes:
    """Return a component's file as UTF-8, with all lines empty but those of its program."""
    # Astro's program stands between fences at the top.
    is_fenced = bool(lines) and lines[0].rstrip() == _FENCE
    is_script = is_fenced
    kept = []
    for row, line in enumerate(lines):
        words = line.strip()
        if is_script and row and (words == _FENCE if is_fenced else _CLOSES.match(words)):
            is_script = is_fenced = False
        kept.append(line if is_script and not (is_fenced and row == 0) else "")
        is_script = is_script or _OPENS.match(words) is not None
    return "\n".join(kept).encode()
