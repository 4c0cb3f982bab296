"""Plan and apply changes to Claude Code's files.

Beside the changed text, a record of the edits is kept, so that uninstalling reverts exactly those
edits that are still unchanged, down to the last byte. It holds their positions and the text that
stood there, which is white space, and nothing else of the file: secrets stay where they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, define, field, frozen

from contextkit.agent import data_folder, make_private_folder, write_private
from contextkit_claude_code.errors import SettingsFileError
from contextkit_claude_code.files import Change, Places, read, write
from contextkit_claude_code.json_text import Edit, apply
from contextkit_claude_code.merging import MergeError, add_hooks, add_server, remove_all
from contextkit_claude_code.wanted import Wanted

_EMPTY = "{}\n"


@frozen
class Plan:
    """The planned changes.

    Attributes:
        changes: the files to change.
        records: file -> the data that uninstalling needs, or None to delete it.
        remarks: the remarks to report.
    """

    changes: Sequence[Change]
    records: dict[str, dict[str, Any] | None]
    remarks: Sequence[str] = ()


@define
class _Planning:
    changes: list[Change] = field(factory=list)
    records: dict[str, dict[str, Any] | None] = field(factory=dict)

    def change(self, file: Path, after: str | None, record: dict[str, Any] | None) -> None:
        before = read(file)
        if after != before:
            self.changes.append(Change(file, before, after))
        self.records[str(file)] = record


def plan_install(places: Places, wanted: Wanted) -> Plan:
    """Plan the installation; empty if everything is installed.

    The entries of an earlier installation are replaced.

    Raises `SettingsFileError` for a file that is not what Claude Code has there.
    """
    planning, remarks = _Planning(), []
    _plan_file(planning, places.hooks, lambda text: add_hooks(text, wanted.hooks))
    server = wanted.server
    if server is None:
        remarks.append("contextkit-mcp is not installed: the MCP server is left out")
    else:
        edits = _plan_file(planning, places.servers, lambda text: add_server(text, server))
        if not edits:
            remarks.append(f"{places.servers} has another MCP server named contextkit: it stays")
    return Plan(planning.changes, planning.records, remarks)


def plan_uninstall(places: Places) -> Plan:
    """Plan the removal; empty if nothing is installed.

    Raises `SettingsFileError` for a file that is not what Claude Code has there.
    """
    planning = _Planning()
    for file in (places.hooks, places.servers):
        if (text := read(file)) is not None:
            after, made = _without_ours(file, text)
            planning.change(file, None if made and after.strip() == "{}" else after, None)
    return Plan(planning.changes, planning.records)


def carry_out(plan: Plan) -> None:
    """Apply the plan.

    Raises `SettingsFileError` where a file cannot be written; those before it have been.
    """
    for change in plan.changes:
        made_folder = change.before is None and not change.file.parent.exists()
        write(change)
        record = plan.records[str(change.file)]
        if record is not None and made_folder:
            record["made_folder"] = True
        _remember(change.file, record)


def _plan_file(planning: _Planning, file: Path, edits_for: Callable[[str], list[Edit]]) -> int:
    """Plan one file, and return the number of edits."""
    text = read(file)
    base, made = (_EMPTY, True) if text is None else _without_ours(file, text)
    try:
        edits = edits_for(base)
    except MergeError as error:
        raise SettingsFileError(file, str(error)) from error
    after = base
    for edit in edits:
        after = apply(after, edit)
    record = {"made": made, "digest": _digest(after), "edits": [asdict(edit) for edit in edits]}
    if edits or text is not None:
        planning.change(file, after, record)
    return len(edits)


def _without_ours(file: Path, text: str) -> tuple[str, bool]:
    """Return the text without contextkit's entries.

    Also return whether contextkit created the file.
    """
    record = _records().get(str(file)) or {}
    made = record.get("made") is True
    if record.get("digest") == _digest(text):
        for raw in reversed(record["edits"]):
            text = apply(text, Edit(**raw).reversed)
        return text, made
    try:
        edits = remove_all(text)
    except MergeError as error:
        raise SettingsFileError(file, str(error)) from error
    for edit in edits:
        text = apply(text, edit)
    return text, made


# -- the record -----------------------------------------------------------------------------


def _record_file() -> Path:
    return data_folder() / "claude-code" / "installed.json"


def _records() -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(_record_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(file: Path, record: dict[str, Any] | None) -> None:
    records = _records()
    known = records.pop(str(file), {})
    if record is not None:
        records[str(file)] = {"made_folder": known.get("made_folder", False), **record}
    elif known.get("made_folder"):
        # Entries that were added since keep it.
        with contextlib.suppress(OSError):
            file.parent.rmdir()
    kept = _record_file()
    if records:
        make_private_folder(kept.parent)
        made = kept.with_suffix(".new")
        write_private(made, json.dumps(records))
        made.replace(kept)
    else:
        kept.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            kept.parent.rmdir()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
