"""Reading the configuration layer by layer, so that one bad file hides no other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.config import Config
from contextkit.config.layers import HOME_VARIABLE, LAYERS, load_config, user_config_file
from contextkit.errors import ConfigError
from contextkit.health.finding import Finding, fine, problem
from contextkit.workspace import Workspace

__all__ = ["ConfigurationCheck"]

PART = "configuration"


@define
class ConfigurationCheck:
    """The configuration's layers, each by itself.

    Attributes:
        workspace: whose project file is read.
        flags: dotted key -> value, from the command line.
    """

    workspace: Workspace
    flags: Mapping[str, Any]
    _valid: list[str] = field(factory=list, init=False)

    def findings(self) -> Iterator[Finding]:
        """One finding for each layer that anything is set in, and for each that is wrong."""
        for layer in LAYERS:
            try:
                config = self._read([layer])
            except ConfigError as error:
                yield problem(PART, str(error), _remedy(layer, error))
                continue
            self._valid.append(layer)
            found = self._described(layer, config)
            if found:
                yield fine(PART, found)

    def usable(self) -> Config:
        """The configuration of the layers that are valid."""
        return self._read(self._valid)

    def _read(self, layers: list[str]) -> Config:
        return load_config(self.workspace, flags=self.flags, layers=layers)

    def _described(self, layer: str, config: Config) -> str | None:
        count = len(config.origins)
        settings = f"{count} setting{'' if count == 1 else 's'}"
        if layer == "user":
            file = user_config_file()
            return f"{file}: {settings}" if file.is_file() else f"no file of your own at {file}"
        if layer == "project":
            file_there = self.workspace.config_file
            return f"{file_there}: {settings}" if file_there else "no file of the project's"
        if layer == "environment":
            home = os.environ.get(HOME_VARIABLE)
            where = [f"{HOME_VARIABLE}={Path(home)}"] if home else []
            names = sorted(str(origin) for origin in config.origins.values())
            return f"environment: {', '.join(where + names)}" if where or names else None
        return None


def _remedy(layer: str, error: ConfigError) -> str:
    if error.file is not None:
        return "mend that line" if error.line else "mend that file"
    return "mend or unset that variable" if layer == "environment" else "leave that option out"
