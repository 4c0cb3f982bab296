"""The languages that are parsed.

`language` says what one is described by, one module for each family describes its languages, and
`table` has them all.
"""

from __future__ import annotations
