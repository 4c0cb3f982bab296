"""Values that nobody would send: what the tests of odd input are made of."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["NUMBERS", "TEXTS", "VALUES"]

NUMBERS: st.SearchStrategy[Any] = (
    st.integers() | st.floats() | st.sampled_from([0, -1, 10**400, 2**63, 1e308, 5e-324])
)
TEXTS: st.SearchStrategy[str] = st.text(max_size=40) | st.sampled_from(
    (
        *("", " ", "\0", "\ud800", "a\udfffb", "\u202e\u2028", "nan", "true", "-1", "1e999", "~x"),
        *("x" * 3000, "a,b=,=", "code", "[" * 200, "\x1b[31m", "../..", "2026-13-45", "'\"`$(x)"),
    )
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=5,
)
"""What JSON can say, and numbers that it cannot."""
