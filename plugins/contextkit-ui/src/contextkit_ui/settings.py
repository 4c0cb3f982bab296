"""The settings, where each comes from, and changes to the user's file, for the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit import InvalidRequestError
from contextkit.agent import (
    EffectiveSetting,
    effective_settings,
    set_user_setting,
    unset_user_setting,
    user_config_file,
)
from contextkit_ui.pages import render
from contextkit_ui.project import Project

_LAYERS: Mapping[str, str] = {
    "default": "default",
    "user": "your file",
    "project": "project file",
    "environment": "environment",
    "flag": "option",
    "run time": "this run",
}


@frozen(kw_only=True)
class SettingView:
    """One setting.

    Attributes:
        setting: the setting.
        name: its key within its section.
        value: its value as a text.
        layer: where it comes from, in a word or two.
        place: the file and the line, or the variable; empty for a default.
        fixed: whether a change of the user's file would not count.
    """

    setting: EffectiveSetting
    name: str
    value: str
    layer: str
    place: str
    fixed: bool


@frozen(eq=False)
class SettingPages:
    """Answers the page's requests about settings; every method blocks.

    Attributes:
        project: whose settings they are.
    """

    project: Project

    def listed(self) -> list[EffectiveSetting]:
        """List every setting in effect."""
        kit = self.project.kit
        return effective_settings(kit.config, kit.registry, kit.workspace.root)

    def show(self) -> dict[str, Any]:
        """Return the settings as HTML."""
        rows = [_view(setting) for setting in self.listed()]
        sections = [
            (name, list(of)) for name, of in groupby(rows, lambda row: _section(row.setting.key))
        ]
        file = self.project.kit.workspace.config_file
        html = render(
            "settings.html",
            sections=sections,
            user_file=tilde(user_config_file()),
            project_file=tilde(file) if file else None,
        )
        return {"html": html}

    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Set a setting in the user's file, or remove it from there, and return what then counts.

        Raises `InvalidRequestError` for a wrong request, and what `set_user_setting` raises.
        """
        key, given = asked.get("key"), asked.get("value")
        if not isinstance(key, str) or not (given is None or isinstance(given, str)):
            raise InvalidRequestError("key and value must be texts; no value removes the key")
        registry = self.project.kit.registry
        if given is None:
            removed, file = unset_user_setting(registry, key)
            done = f"removed {key} from" if removed else f"{key} was not set in"
        else:
            _, file = set_user_setting(registry, key, given)
            done = f"{key} = {given}, written to"
        self.project.reopen()
        return {"words": self._outcome(key, f"{done} {tilde(file)}")}

    def _outcome(self, key: str, done: str) -> str:
        """Say what was written, and what counts instead of it."""
        now = next((each for each in self.listed() if each.key == key), None)
        if now is not None and _is_fixed(now):
            return f"{done}. It has no effect here: {now.source} counts"
        return done


def _view(setting: EffectiveSetting) -> SettingView:
    origin = setting.origin
    return SettingView(
        setting=setting,
        name=setting.key.removeprefix(f"{_section(setting.key)}."),
        value=_text(setting.value),
        layer=_LAYERS.get(origin.layer, origin.layer),
        place="" if origin.layer == "default" else tilde(setting.source),
        fixed=_is_fixed(setting),
    )


def _is_fixed(setting: EffectiveSetting) -> bool:
    return setting.origin.layer not in {"default", "user"}


def _section(key: str) -> str:
    return key.rpartition(".")[0] or "project"


def _text(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else tilde(value)


def tilde(value: object) -> str:
    """Shorten the user's home folder."""
    return re.sub(rf"{re.escape(str(Path.home()))}(?![^/\\])", "~", str(value))
