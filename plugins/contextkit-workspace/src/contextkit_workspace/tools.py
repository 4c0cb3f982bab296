"""Agent tool `report_open_files`, for agents and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from contextkit import InvalidRequestError, Tool
from contextkit_workspace.open_files import in_workspace, remember_open

if TYPE_CHECKING:
    from contextkit import ContextKit


_MOST_FILES = 200


class _Reported(TypedDict):
    open_files: Annotated[list[str], "the files that are open now, by their paths in the workspace"]


def _report_open_files(
    kit: ContextKit,
    files: Annotated[list[str], "all files that are open; an empty list where none is"],
) -> _Reported:
    if len(files) > _MOST_FILES:
        raise InvalidRequestError(f"files has {len(files)} entries, expected {_MOST_FILES} at most")
    root = kit.workspace.root
    paths = [_checked(path, in_workspace(root, path)) for path in files]
    opened = list(dict.fromkeys(paths))
    remember_open(kit.records("workspace"), opened)
    return {"open_files": opened}


def _checked(given: str, path: str | None) -> str:
    if path is None or not path.isprintable():
        raise InvalidRequestError(f"files: {given!r} is not the path of a file in the workspace")
    return path


TOOLS = (
    Tool(
        name="report_open_files",
        description=(
            "Tell which files are open in the editor or are being worked on, in place of those "
            "told before. Contexts of the next day then count them as being at work."
        ),
        run=_report_open_files,
    ),
)
