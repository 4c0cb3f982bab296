"""What is installed is kept between starts, until something is installed, removed or edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from contextkit.testing.surroundings import write_distribution

SCRIPT = """
import sys
from contextkit.plugin.installed import installed_plugins

found = [each for each in installed_plugins() if each.name.startswith("tide")]
found.sort(key=lambda each: each.name)
print("importlib.metadata" in sys.modules, *(f"{e.name}={e.target}:{e.version}" for e in found))
"""


def look(site: Path, kept: Path) -> str:
    """Look for plugins in a process of its own; whether all were parsed, and the plugins."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONPYCACHEPREFIX": str(kept)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_a_second_start_parses_no_metadata(tmp_path: Path) -> None:
    """It finds the same plugins."""
    site = tmp_path / "site"
    write_distribution(site, "contextkit-tide", {"tide": "my_tide"}, "1.5")
    assert look(site, tmp_path) == "True tide=my_tide:1.5"
    assert look(site, tmp_path) == "False tide=my_tide:1.5"


def test_what_is_installed_removed_or_edited_is_noticed(tmp_path: Path) -> None:
    """The next start after a change finds what there is."""
    site = tmp_path / "site"
    write_distribution(site, "contextkit-tide", {"tide": "my_tide"})
    look(site, tmp_path)
    write_distribution(site, "contextkit-tides", {"tides": "my_tides:Tides"})
    assert look(site, tmp_path) == "True tide=my_tide:1.0 tides=my_tides:Tides:1.0"
    points = site / "contextkit_tide-1.0.dist-info" / "entry_points.txt"
    points.write_text("[contextkit]\ntide = other_tide\n", encoding="utf-8")
    assert look(site, tmp_path) == "True tide=other_tide:1.0 tides=my_tides:Tides:1.0"
    shutil.rmtree(site / "contextkit_tides-1.0.dist-info")
    assert look(site, tmp_path) == "True tide=other_tide:1.0"
    assert look(tmp_path / "elsewhere", tmp_path) == "True"


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    """A kept file that cannot be read is not used."""
    site = tmp_path / "site"
    write_distribution(site, "contextkit-tide", {"tide": "my_tide"})
    look(site, tmp_path)
    (kept,) = tmp_path.rglob("installed.*opt-plugins*")
    kept.write_bytes(kept.read_bytes()[:40])
    assert look(site, tmp_path) == "True tide=my_tide:1.0"
    assert look(site, tmp_path) == "False tide=my_tide:1.0"
