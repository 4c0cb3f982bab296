"""How far relations are followed. A module of its own, since loading the source needs no more."""

from __future__ import annotations

DEPTH = 2
MOST_DEPTH = 5
