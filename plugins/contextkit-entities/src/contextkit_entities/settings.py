"""How far relations are followed; light to import, as every process loads the plugin."""

from __future__ import annotations

DEPTH = 2
MOST_DEPTH = 5
