"""Read the configuration's layers, and join them into one `Config`.

Commands and MCP tools, for which a person waits for one answer, have their own timeouts for
sources. A process that has just begun, on a machine that runs tests beside it, needs several times
as long as a warm one. For them, an answer without its code is worse than one that comes a second
later.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import Attribute, evolve, fields_dict

from contextkit.config.files import FileSetting, read_settings, settings_in
from contextkit.config.join import Joined, Layer, Value, join, rule_of, with_switched_off_left_out
from contextkit.config.origins import Origin
from contextkit.config.sections import SECTIONS, SOURCE_NAME, STRATEGY_PARTS, SourceSettings
from contextkit.config.settings import Config, normalized, one_name_twice
from contextkit.config.strategies import strategy_named
from contextkit.errors import ConfigError, InvalidRequestError
from contextkit.models.options import UnfitError, values_of
from contextkit.models.strategy import Strategy
from contextkit.workspace.find import Workspace

LAYERS = ("user", "project", "environment", "flag")
"""Where values come from beside the defaults, the weakest first."""

HOME_VARIABLE = "CONTEXTKIT_HOME"
_PREFIX = "CONTEXTKIT_"
_RESERVED_VARIABLES = {HOME_VARIABLE, "CONTEXTKIT_DEBUG"}
_CORE_KEYS = tuple(name for name in fields_dict(SourceSettings) if name != "own")


def data_folder() -> Path:
    """Return the folder of stores and states.

    It is `CONTEXTKIT_HOME`, or the user's data folder.
    """
    return _home() or _usual_folder("data")


def user_config_file() -> Path:
    """Return the user's `config.toml`, whether it exists or not."""
    return (_home() or _usual_folder("config")) / "config.toml"


def _home() -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    try:
        return Path(home).expanduser() if home else None
    except RuntimeError as error:
        raise ConfigError(
            f"expected a folder, got {home!r}, but that user has no home folder",
            key=HOME_VARIABLE,
        ) from error


def _usual_folder(kind: Literal["data", "config"]) -> Path:
    import platformdirs

    find = platformdirs.user_data_path if kind == "data" else platformdirs.user_config_path
    return find("contextkit", appauthor=False)


def load_config(
    workspace: Workspace,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    layers: Collection[str] = LAYERS,
) -> Config:
    """Read the layers and join them.

    Args:
        workspace: whose project settings are read.
        environment: variables; default: the process's. An empty one is not set.
        flags: dotted key -> value, from the command line or from the host.
        layers: those of `LAYERS` that are read.

    Raises:
        ConfigError: with file, line, key and the expected value.
    """
    file = workspace.config_file
    readers: Mapping[str, Callable[[], Layer]] = {
        "user": _user_layer,
        "project": lambda: _file_layer(file, "project") if file else {},
        "environment": lambda: _environment_layer(
            os.environ if environment is None else environment
        ),
        "flag": lambda: _flag_layer(flags or {}),
    }
    return _structure(join({layer: readers[layer]() for layer in LAYERS if layer in layers}))


# -- layers ---------------------------------------------------------------------------------


def _user_layer() -> Layer:
    file = user_config_file()
    try:
        present = file.is_file()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error}", file=file) from error
    return _file_layer(file, "user") if present else {}


def user_config_in(text: str) -> Config:
    """Read a text as the user's file, without the other layers.

    Raises `ConfigError` as `load_config` does.
    """
    file = user_config_file()
    return _structure(join({"user": _layer_of(settings_in(text, file), file, "user")}))


def parsed_setting(key: str, given: str) -> Any:
    """Return a setting's value for a text; a source's own setting stays a text.

    Raises `ConfigError` for an unknown setting or a wrong value.
    """
    value = Value(given, Origin("user", f"{key}={given:.40}"), as_text=True)
    config = _structure(join({"user": {key: value}}))
    return next(found for name, found, _ in config.described() if name == key)


def _file_layer(file: Path, layer: str) -> Layer:
    return _layer_of(read_settings(file), file, layer)


def _layer_of(settings: Mapping[str, FileSetting], file: Path, layer: str) -> Layer:
    values = {}
    for key, setting in settings.items():
        if layer == "project" and rule_of(key) == "user":
            raise ConfigError(
                "this setting is yours alone, as the file of a cloned repository could send your "
                f"records away, delete them, or keep secrets in them: set it in "
                f"{user_config_file()} or in the environment",
                key=key,
                file=file,
                line=setting.line,
            )
        values[key] = Value(setting.raw, Origin(layer, str(file), setting.line), file)
    return values


def _environment_layer(environment: Mapping[str, str]) -> Layer:
    known = {"project": "project"}
    for section, kind in SECTIONS.items():
        known.update({f"{section}_{name}": f"{section}.{name}" for name in fields_dict(kind)})
    values: dict[str, Value] = {}
    for variable, raw in sorted(environment.items()):
        if not variable.startswith(_PREFIX) or variable in _RESERVED_VARIABLES:
            continue
        if variable.startswith("CONTEXTKIT_TEST_"):
            continue
        name = variable.removeprefix(_PREFIX).lower()
        key = known.get(name) or _source_key(name) or _strategy_key(name)
        if key is None and _is_a_plugins_token(name):
            continue
        if key is None:
            nearest = _nearest(name, known)
            hint = f"; did you mean {_PREFIX}{nearest[0].upper()}?" if nearest else ""
            raise ConfigError(
                f"no setting belongs to this environment variable{hint}", key=variable
            )
        if raw.strip():
            if key in values:
                raise _said_twice(variable, values[key].origin.label)
            values[key] = Value(raw, Origin("environment", variable), as_text=True)
    return values


def _is_a_plugins_token(name: str) -> bool:
    """Check whether a variable holds a plugin command's secret.

    Such a variable is not a setting.
    """
    owner, _, rest = name.partition("_")
    return rest.endswith("token") and owner not in {"sources", "strategies", *SECTIONS}


def _source_key(name: str) -> str | None:
    found = re.fullmatch(rf"sources_(.+)_({'|'.join(_CORE_KEYS)})", name)
    return f"sources.{normalized(found.group(1))}.{found.group(2)}" if found else None


def _strategy_key(name: str) -> str | None:
    # The shortest name counts: `x_min_relevance` is a part of `x`, not the relevance of `x_min`.
    found = re.fullmatch(rf"strategies_(.+?)_({'|'.join(STRATEGY_PARTS)})", name)
    return f"strategies.{normalized(found.group(1))}.{found.group(2)}" if found else None


def _flag_layer(flags: Mapping[str, Any]) -> Layer:
    values: dict[str, Value] = {}
    written: dict[str, str] = {}
    for key, raw in flags.items():
        first, _, rest = key.partition(".")
        name, _, setting = rest.partition(".")
        named = first in {"sources", "strategies"} and setting
        spelt = f"{first}.{normalized(name)}.{setting}" if named else key
        if spelt in written:
            raise _said_twice(key, written[spelt])
        written[spelt] = key
        values[spelt] = Value(raw, Origin("flag", _flag(key, raw)))
    return values


def _said_twice(key: str, first: str) -> ConfigError:
    return ConfigError(f"the same setting as {first}: keep one of them", key=key)


def _flag(key: str, raw: object) -> str:
    if key.startswith("sources.") and key.endswith(".enabled"):
        return f"--{'enable' if raw else 'disable'} {key.split('.')[1]}"
    return f"--{key.rsplit('.', 1)[-1].replace('_', '-')}"


# -- structure ------------------------------------------------------------------------------


def _structure(joined: Joined) -> Config:
    values, project = joined.values, None
    sections: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    sources: dict[str, dict[str, Any]] = {}
    strategies: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        first, _, rest = key.partition(".")
        if key == "project":
            project = _checked(key, value, fields_dict(Config)["project"])
        elif first in SECTIONS:
            known = fields_dict(SECTIONS[first])
            if not rest:
                raise ConfigError(
                    f"it is a section; expected {first}.SETTING, one of {', '.join(known)}",
                    key=key,
                    file=value.file,
                    line=value.origin.line,
                )
            if rest not in known:
                raise _unknown(key, value, known, f"{first}.")
            sections[first][rest] = _checked(key, value, known[rest])
        elif first == "sources":
            _add_source_setting(sources, key, value)
        elif first == "strategies":
            _add_part(strategies, key, value)
        else:
            within = [f"{s}.{name}" for s in SECTIONS for name in fields_dict(SECTIONS[s])]
            raise _unknown(key, value, ["project", "sources", "strategies", *SECTIONS, *within])
    config = Config(
        project=project,
        **{name: SECTIONS[name](**given) for name, given in sections.items()},
        sources={name: SourceSettings(**given) for name, given in sources.items()},
        strategies=strategies,
        origins={key: value.origin for key, value in values.items()},
        overruled=joined.overruled,
        contested=joined.contested,
    )
    _check_strategies(config, values)
    return with_switched_off_left_out(config)


def _add_source_setting(sources: dict[str, dict[str, Any]], key: str, value: Value) -> None:
    _, name, setting = [*key.split(".", 2), "", ""][:3]
    if not SOURCE_NAME.fullmatch(name) or not setting:
        raise ConfigError("expected sources.NAME.SETTING", key=key)
    settings = sources.setdefault(name, {"own": {}})
    if setting in _CORE_KEYS:
        settings[setting] = _checked(key, value, fields_dict(SourceSettings)[setting])
    else:
        settings["own"][setting] = value.raw


def _add_part(strategies: dict[str, dict[str, Any]], key: str, value: Value) -> None:
    _, name, part = [*key.split(".", 2), "", ""][:3]
    if not SOURCE_NAME.fullmatch(name) or not part:
        raise ConfigError("expected strategies.NAME.PART", key=key)
    if part not in STRATEGY_PARTS:
        raise _unknown(key, value, STRATEGY_PARTS, f"strategies.{name}.")
    found = _checked(key, value, fields_dict(Strategy)[part])
    if isinstance(found, Mapping) and (same := one_name_twice(found)):
        raise ConfigError(
            f"'{same[0]}' and '{same[1]}' are one source's name: keep one of them",
            key=key,
            file=value.file,
            line=value.origin.line,
        )
    strategies.setdefault(name, {})[part] = found


def _check_strategies(config: Config, values: Mapping[str, Value]) -> None:
    """Refuse a strategy without any weight, and an unknown choice."""
    for name in config.strategies:
        try:
            strategy_named(config, name)
        except ValueError as error:
            raise ConfigError(str(error), key=f"strategies.{name}") from error
    chosen = values.get("assemble.strategy")
    try:
        strategy_named(config, config.assemble.strategy)
    except InvalidRequestError as error:
        if chosen is None:
            raise
        raise ConfigError(
            f"{error} (from {chosen.origin})", key="assemble.strategy", file=chosen.file
        ) from error
    except ValueError as error:
        raise ConfigError(str(error), key="ranking") from error


def _unknown(key: str, value: Value, known: Collection[str], prefix: str = "") -> ConfigError:
    # A setting may be given without its section.
    nearest = [name for name in known if name.endswith(f".{key}")]
    nearest = nearest or _nearest(key.removeprefix(prefix), known)
    shown = ", ".join(sorted(name for name in known if "." not in name))
    hint = f"did you mean {prefix}{nearest[0]}?" if nearest else f"known: {shown}"
    message = f"unknown setting; {hint}"
    return ConfigError(message, key=key, file=value.file, line=value.origin.line)


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, list(known), n=1)


def _checked(key: str, value: Value, attribute: Attribute[Any]) -> Any:
    try:
        found = values_of(attribute).checked(value.raw, as_text=value.as_text)
    except UnfitError as error:
        where = f" (from {value.origin.label})" if value.file is None else ""
        raise ConfigError(
            f"{error}{where}", key=key, file=value.file, line=value.origin.line
        ) from error
    # A folder that a file names is relative to that file, wherever the program runs.
    return value.file.parent / found if isinstance(found, Path) and value.file else found


SOURCE_TIMEOUT = 2.0
"""Seconds that one source may take."""

DEADLINE = 3.0
"""Seconds that all sources may take together."""

_TIMEOUT_KEY, _DEADLINE_KEY = "assemble.source_timeout", "assemble.deadline"


def with_command_timeouts(config: Config) -> Config:
    """Raise the sources' timeouts where none is configured."""
    assemble, origins = config.assemble, dict(config.origins)
    if _TIMEOUT_KEY not in origins:
        assemble = evolve(assemble, source_timeout=SOURCE_TIMEOUT)
    if _DEADLINE_KEY not in origins:
        assemble = evolve(assemble, deadline=DEADLINE)
    ours = Origin("default", "default of commands")
    return evolve(
        config, assemble=assemble, origins={_TIMEOUT_KEY: ours, _DEADLINE_KEY: ours} | origins
    )
