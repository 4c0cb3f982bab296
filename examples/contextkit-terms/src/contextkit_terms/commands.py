"""The commands `contextkit terms ...`."""

from __future__ import annotations

from contextkit.cli import entry_commands
from contextkit_terms.book import TermBook

terms = entry_commands(TermBook, "Keep words and what they mean.")
