"""The tool `add_note`, for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from contextkit import Tool
from contextkit_notes.database import add_note

if TYPE_CHECKING:
    from contextkit import ContextKit


def _add(
    kit: ContextKit,
    text: Annotated[str, "what to note"],
    notebook: Annotated[str, "what it belongs to"] = "",
) -> dict[str, int]:
    file = kit.workspace.root / kit.registry.settings("notes")["file"]
    return {"number": add_note(file, text, notebook)}


TOOLS = (Tool(name="add_note", description="Write a note down for later.", run=_add),)
