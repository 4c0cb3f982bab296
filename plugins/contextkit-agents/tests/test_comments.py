"""Settings with comments are edited, and what people wrote in them is never lost."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from hypothesis import given, strategies as st

from contextkit_agents.errors import MergeError
from contextkit_agents.json_text import apply, blanked
from contextkit_agents.merging import Merged, remove_all

HOOK = {"type": "command", "command": "/v/bin/contextkit-hook codex"}
SERVER = {"command": "/v/bin/contextkit", "args": ["mcp"]}
ENTRIES = {
    "version": 1,
    "hooks": {"Stop": [{"matcher": "a", "hooks": [HOOK]}], "Start": [HOOK]},
    "mcpServers": {"contextkit": SERVER},
}
COMMENTS = ["", " ", "// one", "/* two, ] */", '\t// "three', "/**/ // four }"]
FOUND = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)

names = st.sampled_from(["hooks", "mcpServers", "Stop", "contextkit", "command", "//", "a"])
values = st.recursive(
    st.integers() | st.sampled_from(["", "//", "/* */", ",]", '"', "\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)
settings = st.dictionaries(names, values, max_size=4)


def commented(value: object, comments: Sequence[str], comma: bool) -> str:
    """The value as JSON with a comment at the end of each line."""
    lines = json.dumps(value, indent=2).split("\n")
    text = "".join(f"{line}{comments[n % len(comments)]}\n" for n, line in enumerate(lines))
    return text if not comma else re.sub(r"(?<=\d)\n(?= *[}\]])", ",\n", text)


def comments_of(text: str) -> list[str]:
    """The comments in a text."""
    return sorted(found[0] for found in FOUND.finditer(text) if found[0][0] == "/")


@given(settings, st.lists(st.sampled_from(COMMENTS), min_size=1, max_size=7), st.booleans())
def test_comments_are_kept(value: object, comments: Sequence[str], comma: bool) -> None:
    """They stay when entries are added, when they are reverted, and when they are removed."""
    text = commented(value, comments, comma)
    assert json.loads(blanked(text)) == value
    merged = Merged(text)
    try:
        merged.add(ENTRIES)
    except MergeError:
        return
    assert json.loads(blanked(merged.text))["hooks"]["Start"][-1] == HOOK
    assert comments_of(merged.text) == comments_of(text)
    back = merged.text
    for edit in reversed(merged.edits):
        back = apply(back, edit.reversed)
    assert back == text
    try:
        bare = remove_all(merged.text)
    except MergeError:
        return
    assert comments_of(bare) == comments_of(text)
    assert "contextkit-hook" not in bare
    json.loads(blanked(bare))
