"""What a query says of itself: its keywords, the names in it, and what is wanted.

| module | what it knows |
|---|---|
| `model` | the signals as plugins see them (`QuerySignals`) |
| `words` | the words that tell what is wanted, and those that tell nothing |
| `reading` | from a query to its signals |
"""

from __future__ import annotations

from contextkit.signals.model import INTENTS, Intent, QuerySignals

__all__ = ["INTENTS", "Intent", "QuerySignals"]
