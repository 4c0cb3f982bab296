"""Dropping what says the same thing twice.

| route | when two items are duplicates |
|---|---|
| same record | one source, one id |
| same key | two sources, one key; a winner takes at most one item of a source this way |
| same text | equal but for case, punctuation and white space |
| same clauses | the same clauses or halves in another order |
| a few words more | a short text with a prefix, or without one of its words |
| near | rapidfuzz's ratio of the two texts is at least the threshold (90%) |

Texts are the items' own words, not their formatting. On every route but the first two,
texts that differ in a number, version, date, path, identifier, name or negation are not
duplicates, however similar: `timeout is 30 s` and `timeout is 60 s` contradict each
other.
"""

from __future__ import annotations

from contextkit.dedup.greedy import DedupResult, Duplicate, deduplicate

__all__ = ["DedupResult", "Duplicate", "deduplicate"]
