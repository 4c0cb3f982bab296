"""Rank files by how well they answer a question.

Each signal is a small pure function; the score is their weighted sum. There is no model and no
configuration. The store gives keyword scores of a file's units and of its outline. Names add what
these lack: a file is about what it and its folder are called, and a question that names a
definition, or spells its name in words, wants that definition.
"""

from __future__ import annotations
