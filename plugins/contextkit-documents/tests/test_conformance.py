"""The documents source does what contextkit expects of every source."""

from __future__ import annotations

from pathlib import Path

import contextkit_documents
from contextkit.testing import SourceConformance

GUIDE = """\
# Token budget

The token budget is split over the sources.

## Shares of the budget

Each source has a share of the token budget by its weight.

- What is left over is given on.

## Limits

```toml
budget = 2000
```
"""


class TestDocuments(SourceConformance):
    """A guide, a configuration, and a project's metadata."""

    source = contextkit_documents
    query = "how is the token budget split?"
    timeout = 60.0

    def make_workspace(self, folder: Path) -> None:
        """Write them."""
        (folder / "docs").mkdir()
        (folder / "docs" / "guide.md").write_text(GUIDE)
        (folder / "settings.toml").write_text("# The token budget.\n[budget]\ntokens = 2000\n")
        (folder / "pyproject.toml").write_text(
            '[project]\nname = "demo"\ndescription = "Splits a token budget"\n'
        )
