"""Limits on following relations.

Light to import, as every process loads the plugin.
"""

from __future__ import annotations

DEPTH = 2
MOST_DEPTH = 5
