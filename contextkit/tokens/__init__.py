"""Counting tokens: by an estimate, for a model family, or by a plugin's tokenizer.

| module | what it knows |
|---|---|
| `counters` | the estimate, and the counter of a model family (`counter_for`) |
| `weights` | the measured weights of the estimate |
| `choice` | which counter a request is counted with |
"""

from __future__ import annotations

from contextkit.tokens.counters import (
    FAMILIES,
    Beginnings,
    TokenCounter,
    counter_called,
    counter_for,
    estimate_tokens,
)

__all__ = [
    "FAMILIES",
    "Beginnings",
    "TokenCounter",
    "counter_called",
    "counter_for",
    "estimate_tokens",
]
