"""The events source does what contextkit expects of every source."""

from __future__ import annotations

import contextkit_events
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_events import EventLog


class TestEvents(SourceConformance):
    """A session with an event of each kind, and an earlier one with an error."""

    source = contextkit_events
    query = "why does the upload fail?"
    timeout = 60.0

    def prepare(self, kit: ContextKit) -> None:
        """Log them as a person would."""
        log = EventLog(kit.records("events"))
        log.add("error", session="sunday", text="upload failed: no space", output="a.py:1\nb.py:2")
        log.add("file_read", session="monday", path="src/upload.py")
        log.add("file_write", session="monday", path="src/upload.py", outcome="ok")
        log.add(
            "shell_exec",
            session="monday",
            command="pytest -q upload",
            output="1 failed",
            exit_code=1,
        )
        log.add("turn", session="monday", role="user", text="Why does the upload fail?\n\nLook!")
        log.add("deploy", session="monday", text="the upload went to the test harbour")
        log.add("deploy", session="monday", text="upload", path="harbour", outcome="late")
