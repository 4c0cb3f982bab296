"""The id of an installation: made once, kept, private, and never guessed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from contextkit.config.installation import installation_id
from contextkit.errors import StoreError
from contextkit.testing import file_permissions_apply, run_together

TAKE = """
import sys
from pathlib import Path
from contextkit.config.installation import installation_id

print("ready", flush=True)
sys.stdin.readline()
Path(sys.argv[1]).write_text(installation_id())
"""


def test_processes_that_begin_together_have_one_id(home: Path, tmp_path: Path) -> None:
    """The file is its user's alone."""
    files = [tmp_path / str(number) for number in range(4)]
    run_together(TAKE, *([str(file)] for file in files))
    assert {file.read_text() for file in files} == {installation_id()}
    assert stat.S_IMODE((home / "installation").stat().st_mode) == 0o600


def test_a_damaged_id_is_not_replaced(home: Path) -> None:
    """Another id would be another user: the error says so."""
    (home / "installation").write_text("half\n")
    with pytest.raises(StoreError, match=r"16 hexadecimal digits, got 'half'.*new user"):
        installation_id()


def test_an_id_that_cannot_be_kept_is_an_error(home: Path) -> None:
    """What it would own could not be found again."""
    home.chmod(0o500)
    with file_permissions_apply(), pytest.raises(StoreError, match="set CONTEXTKIT_HOME"):
        installation_id()
    home.chmod(0o700)
