"""Plan and apply changes to the files of agents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.models import AgentFile
from contextkit_agents.errors import MergeError, SettingsFileError
from contextkit_agents.files import Change, read, write
from contextkit_agents.json_text import Edit
from contextkit_agents.merging import Merged, remove_all
from contextkit_agents.records import Records, entry
from contextkit_agents.toml_text import add_tables, remove_tables

_EMPTY = {".json": "{}\n", ".jsonc": "{}\n", ".toml": ""}


@define
class Plan:
    """The planned changes of one agent's files.

    Attributes:
        agent: the agent's name.
        changes: the files to change.
        remarks: what the user should know.
    """

    agent: str
    changes: list[Change] = field(factory=list)
    remarks: list[str] = field(factory=list)
    _records: Records = field(factory=Records.load)
    _kept: dict[Path, dict[str, Any] | None] = field(factory=dict)

    def carry_out(self) -> None:
        """Apply the changes.

        Raises `SettingsFileError` where a file cannot be written; those before it have been.
        """
        changes = {change.file: change for change in self.changes}
        for file, record in self._kept.items():
            if file in changes:
                self._records.note_folders(file)
                write(changes[file])
            if record is None:
                self._records.forget(file)
            else:
                self._records.files[str(file)] = record
            self._records.save()

    # -- install --------------------------------------------------------------------------

    def install(self, files: Sequence[AgentFile]) -> None:
        """Plan the installation; entries of an earlier one are replaced.

        Raises `SettingsFileError` for a file that is not what the agent has there.
        """
        for file in files:
            text = read(file.path)
            if isinstance(file.content, str):
                self._put(file.path, text, file.content)
            else:
                self._merge(file.path, text, file.content)

    def _put(self, file: Path, text: str | None, wanted: str) -> None:
        ours = text is None or text == wanted or self._records.is_unchanged(file, text)
        if not ours:
            raise SettingsFileError(file, "a file that contextkit did not write is in the way")
        self._keep(file, text, wanted, (), made=True)

    def _merge(self, file: Path, text: str | None, entries: Mapping[str, Any]) -> None:
        if file.suffix not in _EMPTY:
            kinds = ", ".join(_EMPTY)
            raise SettingsFileError(file, f"its adapter adds entries, which only {kinds} can take")
        base, made = (_EMPTY[file.suffix], True) if text is None else self._without_ours(file, text)
        try:
            after, edits, taken = _added(file, base, entries)
        except MergeError as error:
            raise SettingsFileError(file, str(error)) from error
        self.remarks += [f"{file} has another {name}: it stays" for name in taken]
        if edits or text is not None:
            self._keep(file, text, after, edits, made=made)

    def _keep(
        self, file: Path, text: str | None, after: str, edits: Sequence[Edit], *, made: bool
    ) -> None:
        if text != after:
            self.changes.append(Change(file, text, after))
        agents = {*self._records.agents(file), self.agent}
        self._kept[file] = entry(agents, after, edits, made=made)

    # -- uninstall ------------------------------------------------------------------------

    def uninstall(self, files: Sequence[AgentFile]) -> None:
        """Plan the removal.

        Raises `SettingsFileError` for a file that is not what the agent has there.
        """
        for file in files:
            text, record = read(file.path), dict(self._records.of(file.path))
            others = self._records.agents(file.path) - {self.agent}
            if others:
                self._kept[file.path] = {**record, "agents": sorted(others)}
            elif text is None:
                self._kept[file.path] = None
            elif isinstance(file.content, str):
                self._take(file.path, text, file.content)
            else:
                after, made = self._without_ours(file.path, text)
                emptied = made and _says_nothing(after)
                if after != text:
                    self.changes.append(Change(file.path, text, None if emptied else after))
                self._kept[file.path] = None

    def _take(self, file: Path, text: str, wanted: str) -> None:
        if text == wanted or self._records.is_unchanged(file, text):
            self.changes.append(Change(file, text, None))
        elif self._records.of(file):
            self.remarks.append(f"{file} was changed since it was installed: it stays")
        self._kept[file] = None

    def _without_ours(self, file: Path, text: str) -> tuple[str, bool]:
        """Return the text without contextkit's entries, and whether contextkit created the file."""
        made = self._records.of(file).get("made") is True
        if self._records.is_unchanged(file, text):
            return self._records.reverted(file, text), made
        try:
            return (remove_tables if file.suffix == ".toml" else remove_all)(text), made
        except MergeError as error:
            if "contextkit" not in text:
                return text, made
            raise SettingsFileError(file, str(error)) from error


def _added(
    file: Path, text: str, entries: Mapping[str, Any]
) -> tuple[str, Sequence[Edit], Sequence[str]]:
    if file.suffix == ".toml":
        return add_tables(text, entries)
    merged = Merged(text)
    merged.add(entries)
    return merged.text, merged.edits, merged.kept


def _says_nothing(text: str) -> bool:
    """Return whether a settings text has no object or list left."""
    if not text.strip():
        return True
    try:
        return not any(isinstance(part, (dict, list)) for part in json.loads(text).values())
    except (ValueError, AttributeError):
        return False
