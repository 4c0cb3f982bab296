"""An event, its validation, and its stored record."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

from attrs import field, frozen

from contextkit import Record
from contextkit.sources import InvalidEntryError, checked_time
from contextkit_events.guarding import guarded

ROLES = ("user", "assistant", "system", "tool")
"""Roles of a turn's speaker."""

_TEXTS = ("text", "path", "command", "output", "outcome")
_NEEDED = {
    "file_read": "path",
    "file_write": "path",
    "shell_exec": "command",
    "error": "text",
    "turn": "text",
}
_KIND = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
_RESERVED = "session"
_OF_SESSIONS = "ses_"
"""Prefix of the ids of the log's own records."""

_PAST = "past_"
EVENTS = ["event", f"{_PAST}event"]
TURNS = ["turn", f"{_PAST}turn"]
SESSIONS = [_RESERVED, f"{_PAST}{_RESERVED}"]
"""Values of `what` of recorded and of imported records."""

RECORDED = ["event", "turn", _RESERVED]
"""Values of `what` of records that retention limits apply to."""

PAST = [f"{_PAST}event", f"{_PAST}turn"]

_LONGEST_NAME = 200
_PATH_PARTS = re.compile(r"[^\W_]+")


class InvalidEventError(InvalidEntryError):
    """An event is invalid; nothing was stored.

    One of its parts has a value that is not allowed.
    """


@frozen(kw_only=True)
class Event:
    """An event of a session.

    Attributes:
        id: unique; in the order of time unless the caller gave it.
        session: the session's name.
        kind: `file_read`, `file_write`, `shell_exec`, `error`, `turn` or any other word.
        text: the error's message, the words of the turn, or any other text.
        path: the file.
        command: the command that was run.
        output: the command's output, or an error's stack; its beginning and its end.
        exit_code: the command's exit code, or None.
        role: the turn's speaker, or empty.
        outcome: the result, in a word or two.
        created_at: the time, aware.
        imported: the importer that brought it; empty for a recorded event.
        position: an imported turn's place in its session. A prompt has an even number, and the
            answers up to the next prompt have the odd one after it.
    """

    id: str
    session: str
    kind: str
    text: str = ""
    path: str = ""
    command: str = ""
    output: str = ""
    exit_code: int | None = None
    role: str = ""
    outcome: str = ""
    created_at: datetime = field(factory=lambda: datetime.now(UTC))
    imported: str = ""
    position: int | None = None

    @property
    def is_highlight(self) -> bool:
        """Return whether later sessions see it.

        These are errors, writes, and commands that failed.
        """
        return self.kind in {"error", "file_write"} or bool(self.exit_code)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Build an event from its record.

        Parts that are missing or of another type are empty.
        """
        fields = record.fields
        texts = {name: _text_in(fields, name) for name in (*_TEXTS, "role")}
        code, position = fields.get("exit_code"), fields.get("position")
        return cls(
            id=record.id,
            session=_text_in(fields, "session"),
            kind=_text_in(fields, "kind") or "event",
            exit_code=code if type(code) is int else None,
            created_at=record.created_at,
            imported=_text_in(fields, "imported"),
            position=position if type(position) is int else None,
            **(texts if any(texts.values()) else {"text": record.text}),
        )

    def as_record(self) -> Record:
        """Return the record to store.

        The parts of its path are searched, too.
        """
        parts = (self.text, self.path, self.command, self.output)
        known = {name: getattr(self, name) for name in (*_TEXTS, "role") if getattr(self, name)}
        if self.exit_code is not None:
            known["exit_code"] = self.exit_code
        if self.imported:
            known["imported"] = self.imported
        if self.position is not None:
            known |= {"position": self.position, "place": place(self.session, self.position)}
        what = "turn" if self.kind == "turn" else "event"
        return Record(
            id=self.id,
            text="\n".join(part for part in parts if part),
            keywords=" ".join([self.kind, *_PATH_PARTS.findall(self.path)]),
            created_at=self.created_at,
            fields={
                **known,
                "session": self.session,
                "kind": self.kind,
                "what": f"{_PAST}{what}" if self.imported else what,
                "highlight": self.is_highlight,
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """Return its parts as JSON values, without missing ones."""
        parts = {name: getattr(self, name) for name in (*_TEXTS, "role")}
        given: dict[str, Any] = {name: value for name, value in parts.items() if value}
        if self.exit_code is not None:
            given["exit_code"] = self.exit_code
        if self.imported:
            given["imported"] = self.imported
        return {
            "id": self.id,
            "session": self.session,
            "kind": self.kind,
            "created_at": self.created_at.isoformat(),
            **given,
        }


def new_event(session: str, kind: str, parts: Mapping[str, Any]) -> Event:
    """Validate and build an event.

    Secrets are removed, and long parts are cut.

    Args:
        session: the session's name.
        kind: a word of lower-case letters, digits and `_.-`.
        parts: the other attributes of `Event`; None counts as left out.

    Raises:
        InvalidEventError: a part has a value that is not allowed, or one that the kind needs is
            missing: a path of files, a command of `shell_exec`, a text of `error` and `turn`.
    """
    given = {name: value for name, value in parts.items() if value is not None}
    unknown = given.keys() - {*_TEXTS, "exit_code", "role", "created_at", "id"}
    if unknown:
        raise InvalidEventError(f"an event has no {', '.join(sorted(unknown))}")
    kind = _checked_kind(kind)
    try:
        created_at = checked_time(given.get("created_at", datetime.now(UTC)))
    except InvalidEntryError as error:
        raise InvalidEventError(str(error)) from error
    texts: dict[str, Any] = {
        name: guarded(_checked_text(name, given.get(name, "")), name) for name in _TEXTS
    }
    if kind in _NEEDED and not texts[_NEEDED[kind]]:
        raise InvalidEventError(f"an event of the kind {kind} needs a {_NEEDED[kind]}")
    if not any(texts.values()):
        raise InvalidEventError("an event needs a text, a path or a command")
    return Event(
        id=_checked_id(given["id"]) if "id" in given else _new_id(created_at),
        session=_checked_name("session", session),
        kind=kind,
        exit_code=_checked_code(given.get("exit_code")),
        role=_checked_role(kind, given.get("role")),
        created_at=created_at,
        **texts,
    )


def place(session: str, position: int) -> str:
    """Return the field by which the events of a place are looked up."""
    return f"{session}#{position}"


def session_record(session: str, last: datetime) -> Record:
    """Return a session's record, with its last event's time."""
    fields = {"session": session, "kind": _RESERVED, "what": _RESERVED, "highlight": False}
    return Record(id=_session_id(session), text="", created_at=last, fields=fields)


def past_session_record(session: str, file: str, last: datetime, **state: Any) -> Record:
    """Return the record of a transcript.

    Args:
        session: the session.
        file: the transcript; two may be of one session.
        last: the time of its last event.
        state: what the next import needs.
    """
    fields = {"session": session, "kind": _RESERVED, "what": SESSIONS[1], "highlight": False}
    name = _session_id(f"{session}\n{file}")
    return Record(id=name, text="", created_at=last, fields={**fields, **state})


def _session_id(name: str) -> str:
    import hashlib

    return f"{_OF_SESSIONS}{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _text_in(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _new_id(created_at: datetime) -> str:
    microseconds = max(0, int(created_at.timestamp() * 1_000_000))
    return f"evt_{microseconds:014x}{secrets.token_hex(2)}"


def _checked_kind(kind: object) -> str:
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InvalidEventError(
            f"kind must be a word of lower-case letters, digits and _.- with at most 40 "
            f"characters, got {kind!r}"
        )
    if kind == _RESERVED:
        raise InvalidEventError("kind must not be 'session': the log itself has records of it")
    return kind


def _checked_name(name: str, value: object) -> str:
    is_name = isinstance(value, str) and value.isprintable() and value.strip() == value
    if not is_name or not value or len(str(value)) > _LONGEST_NAME:
        raise InvalidEventError(
            f"{name} must be a text on one line, of 1 to {_LONGEST_NAME} characters, got {value!r}"
        )
    return str(value)


def _checked_id(value: object) -> str:
    checked = _checked_name("id", value)
    if checked.startswith(_OF_SESSIONS):
        raise InvalidEventError(
            f"id must not begin with {_OF_SESSIONS}: the log itself has records of that id, "
            f"got {value!r}"
        )
    return checked


def _checked_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidEventError(f"{name} must be a text, got {value!r}")
    return value


def _checked_code(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**32:
        raise InvalidEventError(f"exit_code must be a whole number, got {value!r}")
    return value


def _checked_role(kind: str, role: object) -> str:
    if role is None:
        return "user" if kind == "turn" else ""
    if role not in ROLES:
        raise InvalidEventError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
    return str(role)
