"""Two users on one server: what is one's own stays so, and what is shared is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextkit import ContextKit, Record
from contextkit.testing import Git, own_git
from tests.store.conftest import HttpQdrant

Open = Callable[..., ContextKit]


@pytest.fixture
def server() -> Iterator[HttpQdrant]:
    """A server for everybody in a test."""
    with HttpQdrant() as running:
        yield running


@pytest.fixture
def open_as(server: HttpQdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a folder on the server as somebody, who has a data folder of that name."""
    opened = []

    def open_(who: str, root: Path, **settings: object) -> ContextKit:
        monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / who))
        given = {f"store.{name}": value for name, value in settings.items()}
        kit = ContextKit.open(
            root, settings={"store.url": server.url, "embedding.model": "none", **given}
        )
        opened.append(kit)
        return kit

    with own_git(tmp_path):
        yield open_
    for kit in opened:
        kit.close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that everybody works in."""
    root = tmp_path / "ledger"
    root.mkdir()
    git = Git(root)
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", "Begin")
    return root


def _seen(kit: ContextKit) -> list[str]:
    return sorted(record.id for record in kit.records("memories").scan())


def test_a_global_record_is_its_users_alone(open_as: Open, repository: Path) -> None:
    """Another user of the collection neither finds, counts, gets nor deletes it."""
    ada = open_as("ada", repository).records("memories")
    ada.shared.put([Record(id="private", text="my desk is by the harbour")])
    bob = open_as("bob", repository).records("memories")
    assert ada.get("private")
    assert bob.search_sync("harbour") == []
    assert (list(bob.scan()), bob.get("private"), bob.newest(9), bob.count()) == ([], [], [], 0)
    assert bob.delete("private") == 0
    bob.shared.delete_where({})
    assert ada.count() == 1
