"""What kinds of records there are, apart from what makes them: a search needs no parser."""

from __future__ import annotations

INDEX_VERSION = 5
"""Raise it when files of the same content would give other records: all are indexed anew."""

UNIT = "unit"
"""The field `kind` of a record that is shown: a definition, or a window of lines."""

OUTLINE = "outline"
"""The field `kind` of a file's own record, which is searched and never shown."""
