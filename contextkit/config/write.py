"""Change one setting in the user's file, and keep its other lines.

Each change is checked before it is written: the new text has to say the same as the old one but for
that setting, and has to be a valid configuration. A file in which this does not hold, such as one
with a section in braces, is not changed.
"""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from contextkit.config.files import keys_by_line, read_text, settings_in
from contextkit.config.load import user_config_file, user_config_in
from contextkit.config.settings import normalized
from contextkit.errors import ConfigError
from contextkit.files import write_atomically

_MOST_TRIES = 200
"""A value of more lines and `#` is not replaced."""

_writing = threading.Lock()


def write_user_setting(key: str, value: Any) -> Path:
    """Set a key in the user's file, which is created if it is missing.

    Args:
        key: the dotted key.
        value: its value; None removes the key.

    Returns:
        The file.

    Raises:
        ConfigError: the file cannot be read, changed or written, or would be invalid.
    """
    file = user_config_file()
    with _writing:
        before = read_text(file) if file.exists() else ""
        lines = before.split("\n")
        if value is None:
            _remove(lines, key)
        else:
            _set(lines, key, to_toml(value))
        after = "\n".join(lines)
        if after != before:
            _check(before, after, key, removed=value is None)
            try:
                # A link to the file stays a link, and the lines keep their ends.
                ends = "\r\n" if file.exists() and b"\r\n" in file.read_bytes() else "\n"
                write_atomically(file.resolve(), after.replace("\n", ends))
            except OSError as error:
                raise ConfigError(f"cannot be written: {error}", file=file) from error
    return file


def to_toml(value: Any) -> str:
    """Format a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(to_toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {to_toml(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, Path):
        value = str(value.absolute())
    # A basic string of TOML is one of JSON, as long as all of it can be printed.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _set(lines: list[str], key: str, literal: str) -> None:
    section, _, name = key.rpartition(".")
    at, headings = _places("\n".join(lines), key, section)
    if at is not None:
        head = lines[at].partition("=")[0].rstrip()
        last, rest = _end_of_value(lines, at)
        lines[at : last + 1] = [f"{head} = {literal}{rest}"]
    elif not section:
        lines.insert(0, f"{name} = {literal}")
    elif headings:
        lines.insert(headings[0] + 1, f"{name} = {literal}")
    else:
        while lines and not lines[-1].strip():
            lines.pop()
        lines += [*([""] if lines else []), f"[{section}]", f"{name} = {literal}", ""]


def _remove(lines: list[str], key: str) -> None:
    at, _ = _places("\n".join(lines), key, key.rpartition(".")[0])
    if at is not None:
        last, _ = _end_of_value(lines, at)
        del lines[at : last + 1]


def _places(text: str, key: str, section: str) -> tuple[int | None, list[int]]:
    """Find the lines of a key and of its section's headings, counted from 0."""
    found = [(number - 1, normalized(name)) for number, name in keys_by_line(text)]
    # A name of a setting has _, and one of a source may be written with it.
    at = next((number for number, name in found if name == normalized(key)), None)
    headings = [number for number, name in found if section and name == normalized(section)]
    return at, headings


def _end_of_value(lines: list[str], at: int) -> tuple[int, str]:
    """Find the last line of a key's value, and the comment after it."""
    for last, value, rest in _cuts(lines, at):
        try:
            tomllib.loads(f"x = {value}")
        except (ValueError, RecursionError):
            continue
        space = value[len(value.rstrip()) :] if rest else ""
        return last, f"{space}{rest}"
    return at, ""


def _cuts(lines: list[str], at: int) -> Iterator[tuple[int, str, str]]:
    """Yield where a value may end: at the end of a line, or before a `#`."""
    value, tries = "", 0
    for last in range(at, len(lines)):
        line = lines[last].partition("=")[2] if last == at else lines[last]
        cuts = [place for place, character in enumerate(line) if character == "#"]
        for cut in (*cuts, len(line)):
            tries += 1
            if tries > _MOST_TRIES:
                return
            yield last, f"{value}{line[:cut]}", line[cut:]
        value = f"{value}{line}\n"


def _check(before: str, after: str, key: str, *, removed: bool) -> None:
    file = user_config_file()
    old = {name: setting.raw for name, setting in settings_in(before, file).items()}
    try:
        new = {name: setting.raw for name, setting in settings_in(after, file).items()}
    except ConfigError:
        new = {}
    kept = [{name: raw for name, raw in each.items() if name != key} for each in (old, new)]
    if (key in new) == removed or kept[0] != kept[1]:
        raise ConfigError(
            "the file's layout prevents an automatic change: edit it by hand",
            key=key,
            file=file,
        )
    user_config_in(after)
