"""Read experiences from JSON: an object, a list, or lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from contextkit_experiences.errors import ExperienceError, InvalidExperienceError
from contextkit_experiences.model import Experience
from contextkit_experiences.serialising import from_json


def read_experiences(
    document: bytes, *, name: str, now: datetime | None = None
) -> list[Experience]:
    """Read all experiences of a document, or none.

    Args:
        document: UTF-8, with or without a byte order mark.
        name: its name in errors, for instance the file name.
        now: the current time.

    Raises:
        InvalidExperienceError: an experience is wrong; the text says where it stands.
        ExperienceError: the document is not JSON; the text names the line and column.
    """
    text = _decoded(document, name)
    experiences = []
    for where, data in _objects(text, name):
        try:
            experiences.append(from_json(data, now=now))
        except InvalidExperienceError as error:
            raise error.located(where) from None
    if not experiences:
        raise ExperienceError(f"{name}: holds no experience, expected a JSON object or JSON lines")
    return experiences


def _decoded(document: bytes, name: str) -> str:
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = document.count(b"\n", 0, error.start) + 1
        raise ExperienceError(f"{name}:{line}: found bytes that are not UTF-8 text") from error


def _objects(text: str, name: str) -> Iterator[tuple[str, Any]]:
    if _is_json_lines(text):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{name}:{number}", _parsed(line, name, first_line=number)
        return
    data = _parsed(text, name)
    if isinstance(data, list):
        for position, entry in enumerate(data):
            yield f"{name}[{position}]", entry
    else:
        yield name, data


def _is_json_lines(text: str) -> bool:
    """Return whether a text is JSON lines.

    Its first line that is not empty is then a whole object, and more follows.
    """
    first, _, rest = text.strip().partition("\n")
    if not rest:
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _parsed(text: str, name: str, first_line: int = 1) -> Any:
    if not text.strip():
        return []
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refused_constant)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ExperienceError(
            f"{name}:{line}:{error.colno}: this is not JSON: {error.msg}"
        ) from error
    except RecursionError as error:
        raise ExperienceError(f"{name}:{first_line}: nested too deep to read") from error
    except ValueError as error:
        raise ExperienceError(f"{name}:{first_line}: {error}") from error


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        data[key] = value
    return data


def _refused_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")
