"""The distributions of the installed plugins, and those that were installed before.

An upgrade of an environment may lose plugins that were added to it. The data folder remembers each
environment's plugins, so that `contextkit doctor` notices a loss and `contextkit plugins restore`
installs them again.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from attrs import frozen

from contextkit.config.load import data_folder
from contextkit.files import make_private_folder, write_atomically
from contextkit.package import VERSION
from contextkit.plugin.published import PUBLISHED
from contextkit.plugin.spec import ENTRY_POINT_GROUP

if TYPE_CHECKING:
    import importlib.metadata

CORE = "contextkit-core"

_FILE = "plugins.json"


@frozen(kw_only=True)
class PluginDistribution:
    """An installed distribution with plugins.

    Attributes:
        name: its normalized name, `contextkit-notes`.
        version: its version.
        plugins: the names of its plugins, sorted.
        requirement: what pip installs to get the same again, with the version or the address.
    """

    name: str
    version: str
    plugins: tuple[str, ...]
    requirement: str


def installed_distributions() -> dict[str, PluginDistribution]:
    """Return the installed distributions with plugins by name, sorted."""
    # Few commands need more of them than `installed_plugins` keeps.
    import importlib.metadata

    plugins: dict[str, list[str]] = {}
    distributions = {}
    for found in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if found.dist is not None:
            name = canonical(found.dist.metadata["Name"])
            distributions[name] = found.dist
            plugins.setdefault(name, []).append(found.name)
    return {
        name: PluginDistribution(
            name=name,
            version=distributions[name].version,
            plugins=tuple(sorted(plugins[name])),
            requirement=_requirement(name, distributions[name]),
        )
        for name in sorted(plugins)
    }


def canonical(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirement(name: str, distribution: importlib.metadata.Distribution) -> str:
    """The requirement of an installed distribution, as `pip freeze` writes it."""
    text = distribution.read_text("direct_url.json")
    origin: Mapping[str, Any] = json.loads(text) if text else {}
    url = origin.get("url", "")
    if not url:
        return f"{name}=={distribution.version}"
    if origin.get("dir_info", {}).get("editable"):
        return f"-e {unquote(urlsplit(url).path)}"
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{name} @ {url}"


def remember(installed: Mapping[str, PluginDistribution]) -> None:
    """Remember this environment's plugins.

    Those that are missing by now stay remembered. A data folder that cannot be written is no
    error: only the notice of a loss depends on it.
    """
    known = _read()
    here = known.get(sys.prefix, {})
    kept = here | {name: each.requirement for name, each in installed.items()}
    if kept != here:
        _write(known | {sys.prefix: kept})


def remember_new(names: Iterable[str]) -> None:
    """Remember this environment's plugins if one of these distributions is new.

    This is for commands that run often: listing all distributions takes some 20 ms.
    """
    known = _read().get(sys.prefix, {})
    if any(canonical(name) not in known for name in names):
        remember(installed_distributions())


def forget(names: Iterable[str]) -> None:
    """Forget distributions that were removed on purpose."""
    known, gone = _read(), set(names)
    here = known.get(sys.prefix, {})
    _write(known | {sys.prefix: {name: here[name] for name in here if name not in gone}})


def missing_distributions(installed: Iterable[str]) -> dict[str, str]:
    """Return what was installed in this environment and is not now.

    Returns:
        Name -> requirement to install it again. A version is given only where contextkit's own
        tells it: another plugin's old version may not fit an upgraded contextkit.
    """
    return {
        name: _unpinned(name, requirement)
        for name, requirement in _read().get(sys.prefix, {}).items()
        if name not in set(installed)
    }


def _unpinned(name: str, requirement: str) -> str:
    if not requirement.startswith(f"{name}=="):
        return requirement
    return f"{name}=={VERSION}" if name in PUBLISHED else name


def _read() -> dict[str, dict[str, str]]:
    """Environment -> distribution -> requirement; nothing where the file is unreadable."""
    try:
        found = json.loads((data_folder() / _FILE).read_text(encoding="utf-8"))
        return {prefix: dict(names) for prefix, names in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write(known: Mapping[str, Mapping[str, str]]) -> None:
    kept = {prefix: names for prefix, names in known.items() if names and Path(prefix).is_dir()}
    with contextlib.suppress(OSError):
        make_private_folder(data_folder())
        write_atomically(data_folder() / _FILE, f"{json.dumps(kept, indent=2, sort_keys=True)}\n")
