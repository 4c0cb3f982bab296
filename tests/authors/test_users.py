"""`own_user`: real processes of contextkit for a user of the test's own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from contextkit.testing import OwnUser, own_user, wait_until

TIDE = """
from contextkit import ContextItem, hookimpl


@hookimpl
def contextkit_query(request):
    return [ContextItem("tide", "High water in Oslo at noon", 0.9, id="1")]
"""


@frozen
class Quiet(OwnUser):
    """A user who wants no model."""

    @property
    def environment(self) -> dict[str, str]:
        """With it."""
        return {**super().environment, "CONTEXTKIT_EMBEDDING_MODEL": "none"}


def test_what_they_run_has_their_home_and_plugins_and_nobodys_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A class of one's own may have more variables; at the end nothing is left."""
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_LIMIT", "0")
    with own_user(Quiet) as user:
        user.install("tide", TIDE)
        context = json.loads(
            user.contextkit("assemble", "oslo", "--sources", "tide", "--no-index", "--json")
        )
        assert [item["content"] for item in context["items"]] == ["High water in Oslo at noon"]
        given = "Tabs, never spaces"
        user.contextkit("remember", "-", given=given)
        assert user.home.joinpath("store").is_dir()
        failed = user.process(["sh", "-c", "cat; echo $TIDE >&2; exit 3"], b"in", TIDE="high")
        assert (failed.returncode, failed.stdout, failed.stderr) == (3, b"in", b"high\n")
        assert user.journal() == []
    assert not user.folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="processes' variables are not shown there")
def test_what_still_runs_is_killed() -> None:
    """Such as the processes that a hook starts and does not wait for."""
    with own_user(Quiet) as user:
        left = subprocess.Popen(["cat"], env=user.environment, stdin=subprocess.PIPE)
    left.communicate()
    assert left.returncode == -signal.SIGKILL


def test_a_command_that_fails_ends_the_test_with_what_it_says(tmp_path: Path) -> None:
    """Such as one that there is not."""
    (tmp_path / "project").mkdir()
    with pytest.raises(AssertionError, match="There is no command 'tides'"):
        OwnUser(tmp_path).contextkit("tides")


def test_waiting_ends_when_it_is_so() -> None:
    """The condition is looked at again and again."""
    seen: list[int] = []

    def third() -> bool:
        seen.append(1)
        return len(seen) == 3

    wait_until(third, "the third look")
    assert len(seen) == 3


def test_waiting_in_vain_says_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute."""
    monkeypatch.setattr("contextkit.testing.users._WAIT_SECONDS", -1.0)
    with pytest.raises(AssertionError, match="waited in vain: high water"):
        wait_until(lambda: False, "high water")
