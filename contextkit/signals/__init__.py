"""What a query says of itself: its keywords, the names in it, and what is wanted.

| module | what it knows |
|---|---|
| `model` | the signals as plugins see them (`QuerySignals`) |
| `topics` | what a question asks about |
| `languages` | questions in other languages than English |
| `words` | the words that tell what is wanted, and those that tell nothing |
| `reading` | from a query to its signals |
"""

from __future__ import annotations

from contextkit.signals.model import INTENTS, TOPICS, Intent, QuerySignals, Topic

__all__ = ["INTENTS", "TOPICS", "Intent", "QuerySignals", "Topic"]
