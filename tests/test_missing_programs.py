"""A run of the tests says which programs were missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import PACKAGES

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[1]
TESTS = {
    "tests/cli/test_completion.py::test_fish_offers": ["fish"],
    "plugins/contextkit-agents/tests/test_opencode.py::test_uninstalling_removes_the_plugin": [
        "node"
    ],
    "tests/cache/test_first_use.py::test_importing_is_not_the_time_of_redis": ["redis-server"],
    "plugins/contextkit-ui/tests/test_page.py::test_a_source_is_switched_off_and_on": [
        "chromium",
        "chromedriver",
    ],
}


@pytest.mark.uncounted
def test_a_run_ends_with_the_programs_that_were_missing(tmp_path: Path) -> None:
    """Each program is named once, with the number of its tests, in the core and in plugins."""
    assert {program for programs in TESTS.values() for program in programs} == {*PACKAGES}
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "git").symlink_to(git)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", *TESTS],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    _, _, summary = ran.stdout.partition("missing programs")
    assert "missing programs" not in summary
    *lines, closing = [line for line in summary.splitlines()[1:] if line]
    assert lines == [
        "chromium is not installed, tests skipped: 1",
        "chromedriver is not installed, tests skipped: 1",
        "fish is not installed, tests skipped: 1",
        "node is not installed, tests skipped: 1",
        "redis-server is not installed, tests skipped: 1",
        "On Debian or Ubuntu: apt-get install chromium chromium-driver fish nodejs redis-server",
    ]
    assert "4 skipped in " in closing
