"""`contextkit plugins`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.output import print_text, table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import PluginError

_HEADINGS = ["DISTRIBUTION", "VERSION", "STATE", "PLUGINS"]


@click.group(epilog="Example: contextkit plugins add contextkit-entities")
def plugins() -> None:
    """List, add, remove and restore plugins.

    Plugins are Python distributions in the environment that contextkit runs in. contextkit
    remembers which were installed, and `contextkit doctor` warns if an upgrade lost one.
    """


@plugins.command(
    "list",
    epilog="""\b
Examples:
  contextkit plugins list
  contextkit plugins list --json
""",
)
@json_option
@pass_session
def list_(session: Session, as_json: bool) -> None:
    """List the distributions with plugins.

    A missing one was installed in this environment before. `contextkit sources` shows each
    plugin's state.
    """
    from contextkit.plugin.distributions import installed_distributions, remember

    installed = installed_distributions()
    remember(installed)
    rows: list[dict[str, Any]] = [
        {
            "distribution": each.name,
            "version": each.version,
            "state": "installed",
            "plugins": list(each.plugins),
            "requirement": each.requirement,
        }
        for each in installed.values()
    ]
    rows += [
        {
            "distribution": name,
            "version": "",
            "state": "missing",
            "plugins": [],
            "requirement": requirement,
        }
        for name, requirement in _missing().items()
    ]
    cells = [[r["distribution"], r["version"], r["state"], ", ".join(r["plugins"])] for r in rows]
    session.emit(rows, table(_HEADINGS, cells) if rows else "no plugin is installed", as_json)


@plugins.command(
    epilog="""\b
Examples:
  contextkit plugins add contextkit-entities
  contextkit plugins add ./my-source
"""
)
@click.argument("requirements", metavar="REQUIREMENT...", nargs=-1, required=True)
@pass_session
def add(session: Session, requirements: tuple[str, ...]) -> int:
    """Install plugins.

    A REQUIREMENT is what pip accepts: the name of a distribution, a folder or an address.
    contextkit itself is not changed: a plugin for another version of it is refused.
    """
    from contextkit.plugin.published import install_hint

    for each in requirements:
        # The index has unrelated packages of such names.
        if "/" not in each and (hint := install_hint(each)):
            raise click.UsageError(
                f"'{each}' is a plugin, and its distribution has another name. Run "
                f"{hint.replace('pip install', 'contextkit plugins add')}."
            )
    return _install(session, requirements)


@plugins.command(epilog="Example: contextkit plugins remove contextkit-entities")
@click.argument("names", metavar="DISTRIBUTION...", nargs=-1, required=True)
def remove(names: tuple[str, ...]) -> None:
    """Uninstall plugins.

    Their records stay in the store.
    """
    from contextkit.plugin.distributions import (
        canonical,
        forget,
        installed_distributions,
        remember,
    )
    from contextkit.plugin.installer import uninstall

    installed = installed_distributions()
    remember(installed)
    given = [canonical(name) for name in names]
    known = {*installed, *_missing()}
    if unknown := [name for name in given if name not in known]:
        raise PluginError(
            f"no distribution with plugins is named {', '.join(unknown)}; "
            f"`contextkit plugins list` shows the names"
        )
    if there := [name for name in given if name in installed]:
        uninstall(there)
    forget(given)
    print_text(f"removed {', '.join(given)}")


@plugins.command(epilog="Example: contextkit plugins freeze > plugins.txt")
def freeze() -> None:
    """Print the installed plugins as requirements.

    `contextkit plugins restore FILE` or `pip install -r FILE` installs the same versions again.
    """
    from contextkit.plugin.distributions import installed_distributions, remember

    installed = installed_distributions()
    remember(installed)
    requirements = [each.requirement for each in installed.values()]
    print_text("\n".join(requirements))


@plugins.command(
    epilog="""\b
Examples:
  contextkit plugins restore
  contextkit plugins restore plugins.txt
"""
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@pass_session
def restore(session: Session, file: str | None) -> int:
    """Install plugins that an upgrade lost.

    With a FILE that `contextkit plugins freeze` wrote, install what it lists.
    """
    if file is not None:
        return _install(session, ["-r", file])
    missing = _missing()
    if not missing:
        print_text("no plugin is missing")
        return ExitCode.FINE
    requirements = [word for line in missing.values() for word in _as_arguments(line)]
    return _install(session, requirements)


def _as_arguments(requirement: str) -> Sequence[str]:
    editable = requirement.removeprefix("-e ")
    return [requirement] if editable == requirement else ["-e", editable]


def _missing() -> dict[str, str]:
    from contextkit.plugin.distributions import installed_distributions, missing_distributions

    return missing_distributions(installed_distributions())


def _install(session: Session, requirements: Sequence[str]) -> int:
    """Install, and report how each new plugin loads."""
    import importlib

    from contextkit.plugin.distributions import installed_distributions, remember
    from contextkit.plugin.installer import install

    before = installed_distributions()
    install(requirements)
    importlib.invalidate_caches()
    after = installed_distributions()
    remember(after)
    changed = [each for name, each in after.items() if before.get(name) != each]
    if not changed:
        print_text("no plugin was added: those packages have none, or were installed before")
        return ExitCode.FINE
    for each in changed:
        print_text(f"installed {each.name} {each.version}: {', '.join(each.plugins)}")
    return _check(session, {name for each in changed for name in each.plugins})


def _check(session: Session, names: Iterable[str]) -> int:
    """Load the plugins in a new process, which sees the new files."""
    import json
    import subprocess

    # -P: a module of the current folder may not take the place of an installed one.
    listing = [sys.executable, "-P", "-m", "contextkit.cli", "sources", "--json"]
    ran = subprocess.run(listing, cwd=session.folder, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise PluginError(f"installed, but `contextkit sources` fails: {ran.stderr.strip()}")
    wanted = set(names)
    troubled = [row for row in json.loads(ran.stdout) if row["name"] in wanted and row["reason"]]
    for row in troubled:
        session.warn(f"{row['name']} is {row['state']}: {row['reason']}")
    return ExitCode.FAILED if any(row["state"] == "broken" for row in troubled) else ExitCode.FINE
