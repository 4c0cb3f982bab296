"""Remember what was installed, so that uninstalling leaves no trace.

The record holds, for each file, which agents use it, a digest of the text, and the edits: their
positions and the white space that stood there. Nothing else of a file is kept, so that secrets
stay where they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, define

from contextkit.agent import data_folder, make_private_folder, write_private
from contextkit_agents.json_text import Edit, apply


@define
class Records:
    """What is installed.

    Attributes:
        files: file -> `agents`, `made`, `digest` and `edits`.
        folders: the folders that were created.
    """

    files: dict[str, dict[str, Any]]
    folders: list[str]

    @classmethod
    def load(cls) -> Records:
        """Read the record; a damaged one is empty."""
        try:
            found = json.loads(_file().read_text(encoding="utf-8"))
            return cls(dict(found["files"]), list(found["folders"]))
        except (OSError, ValueError, LookupError, TypeError):
            return cls({}, [])

    def of(self, file: Path) -> Mapping[str, Any]:
        """Return a file's record, or an empty one."""
        return self.files.get(str(file)) or {}

    def agents(self, file: Path) -> set[str]:
        """Return the agents that use a file."""
        return set(self.of(file).get("agents", ()))

    def is_unchanged(self, file: Path, text: str) -> bool:
        """Return whether a file still has the text that was written."""
        return self.of(file).get("digest") == digest(text)

    def reverted(self, file: Path, text: str) -> str:
        """Return an unchanged file's text without the edits."""
        for raw in reversed(self.of(file).get("edits", ())):
            text = apply(text, Edit(**raw).reversed)
        return text

    def save(self) -> None:
        """Write the record, or delete an empty one."""
        kept = _file()
        if self.files:
            make_private_folder(kept.parent)
            made = kept.with_suffix(".new")
            write_private(made, json.dumps({"files": self.files, "folders": self.folders}))
            made.replace(kept)
        else:
            kept.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                kept.parent.rmdir()

    def forget(self, file: Path) -> None:
        """Forget a file, and remove the created folders above it that are empty."""
        self.files.pop(str(file), None)
        for folder in map(str, file.parents):
            if folder in self.folders:
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
                    self.folders.remove(folder)

    def note_folders(self, file: Path) -> None:
        """Note the folders that writing a file will create."""
        self.folders += [str(each) for each in file.parents if not each.exists()]


def digest(text: str) -> str:
    """Return a text's digest."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def entry(agents: Iterable[str], text: str, edits: Iterable[Edit], *, made: bool) -> dict[str, Any]:
    """Return the record of a file.

    Args:
        agents: the agents that use it.
        text: its new text.
        edits: what was changed in it.
        made: whether contextkit created it.
    """
    raw = [asdict(edit) for edit in edits]
    return {"agents": sorted(agents), "made": made, "digest": digest(text), "edits": raw}


def _file() -> Path:
    return data_folder() / "agents" / "installed.json"
