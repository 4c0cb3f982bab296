"""Install and remove plugins in the environment that contextkit runs in."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence

from contextkit.errors import PluginError
from contextkit.package import VERSION
from contextkit.plugin.distributions import CORE


def install(requirements: Sequence[str]) -> None:
    """Install requirements, without changing contextkit's own version.

    Args:
        requirements: arguments of `pip install`.

    Raises:
        PluginError: pip or uv failed, or the environment has neither.
    """
    # Named beside the plugins, the core is kept: a plugin that needs another version is refused.
    _run("install", *requirements, f"{CORE}=={VERSION}")


def uninstall(names: Sequence[str]) -> None:
    """Uninstall distributions.

    Raises:
        PluginError: pip or uv failed, or the environment has neither.
    """
    _run("uninstall", *names)


def _run(action: str, *arguments: str) -> None:
    if importlib.util.find_spec("pip"):
        # -P: a module of the current folder may not take the place of an installed one.
        pip = [sys.executable, "-P", "-m", "pip"]
        command = [*pip, action, "--quiet", "--disable-pip-version-check"]
        command += ["--yes"] if action == "uninstall" else []
    elif uv := shutil.which("uv"):
        command = [uv, "pip", action, "--quiet", "--python", sys.executable]
    else:
        raise PluginError(
            f"the environment at {sys.prefix} has no pip, and there is no uv on PATH: install one "
            f"of them, or {action} with the tool that made the environment: {' '.join(arguments)}"
        )
    # What the tool prints goes to the user, on standard error: it explains a failure best.
    ran = subprocess.run([*command, *arguments], stdout=sys.stderr, check=False)
    if ran.returncode:
        raise PluginError(
            f"could not {action} {' '.join(arguments)} (exit code {ran.returncode}); the reason is "
            f"above"
        )
