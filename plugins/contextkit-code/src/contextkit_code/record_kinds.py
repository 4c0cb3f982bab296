"""Kinds of records, kept apart so searches import no parser."""

from __future__ import annotations

INDEX_VERSION = 13
"""Index version.

Raise it when files of the same content would give other records: all are indexed anew.
"""

UNIT = "unit"
"""Field `kind` of a shown record: definition or window."""

OUTLINE = "outline"
"""Field `kind` of a file's record, searched but never shown."""

CELL = "cell"
"""Unit type of what a notebook has beside definitions."""

WINDOW_TYPES = frozenset({"lines", "section", CELL})
"""Unit types of what is no definition."""
