"""Folders that a tool fills: fetched packages, environments, caches and what tests printed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

TOOL_FOLDERS = frozenset(
    {
        ".bundle",
        ".eggs",
        ".gradle",
        ".mypy_cache",
        ".next",
        ".nox",
        ".nuxt",
        ".parcel-cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svelte-kit",
        ".terraform",
        ".tox",
        ".venv",
        "__pycache__",
        "__snapshots__",
        "_snaps",
        "bower_components",
        "jspm_packages",
        "node_modules",
        "revdep",
        "site-packages",
    }
)
"""Names of folders whose files a tool writes, and not the project's authors."""

_ENVIRONMENT = "pyvenv.cfg"


def is_environment(names: Collection[str]) -> bool:
    """Whether a folder with these names is a Python environment, which may have any name."""
    return _ENVIRONMENT in names


def without_tool_folders(paths: Sequence[str]) -> list[str]:
    """Return the paths that are in no folder that a tool fills."""
    environments = tuple(
        path.removesuffix(_ENVIRONMENT) for path in paths if path.endswith(f"/{_ENVIRONMENT}")
    )
    filled: dict[str, bool] = {}
    kept = []
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder not in filled:
            by_name = not TOOL_FOLDERS.isdisjoint(folder.split("/"))
            filled[folder] = by_name or path.startswith(environments)
        if not filled[folder]:
            kept.append(path)
    return kept
