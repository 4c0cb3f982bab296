"""Many projects over one store: each sees its own records and the user's, never another's.

Run it: `python examples/two_projects.py`; it works in a folder that is gone at the end.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import structlog

from contextkit import ContextKit
from contextkit_memories import MemoryBook


def open_project(workspace: Path, store: Path, name: str | None = None) -> ContextKit:
    """A kit for one project: by its name where it has one, else by its workspace's path."""
    settings = {"store.path": store, **({"project": name} if name else {})}
    return ContextKit.open(workspace, settings=settings)


def remember(kit: ContextKit, text: str, *, everywhere: bool = False) -> None:
    """Store a memory: the project's, or with `everywhere` one that all projects see."""
    MemoryBook.of(kit).remember(text, shared=everywhere)


def main(folder: Path) -> None:
    """Two shops, one question."""
    for name in ("tea", "books"):
        (folder / name).mkdir()
    store = folder / "store"
    with open_project(folder / "tea", store) as tea, open_project(folder / "books", store) as books:
        remember(tea, "The deploy of the tea shop needs Ada's approval")
        remember(books, "The deploy of the book shop runs at night")
        remember(tea, "Never deploy on a Friday", everywhere=True)
        for kit in (tea, books):
            print(f"-- {kit.workspace.root.name}")
            print(kit.assemble_context_sync("how do we deploy?").markdown)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
