"""The code source does what contextkit expects of every source."""

from __future__ import annotations

from pathlib import Path

import contextkit_code
from contextkit.testing import SourceConformance

BUDGET = '''\
def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    whole = sum(weights.values())
    return {name: total * weight // whole for name, weight in weights.items()}


class Budget:
    """A token budget that is split.

    What nobody uses is given on.
    """

    def given_on(self, total):
        """The rest of the budget."""
        return total - self.used
'''
NOTES = "# The token budget\n\nIt is split by weight.\n\n## Why\n\nBecause shares are fair.\n"


class TestCode(SourceConformance):
    """A Python module and a page of notes."""

    source = contextkit_code
    query = "split the token budget"
    timeout = 60.0

    def make_workspace(self, folder: Path) -> None:
        """Write them."""
        (folder / "lib").mkdir()
        (folder / "lib" / "budget.py").write_text(BUDGET)
        (folder / "notes.md").write_text(NOTES)
