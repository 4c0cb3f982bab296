"""Checkouts on a server: each has its own records, and notices when they are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from qdrant_client import models

from contextkit import ContextKit, IndexReport, Record
from contextkit.indexing.marks import forget_checkouts, unused_checkouts
from contextkit.store.server import ServerStore
from tests.store.team import Team

CODE = ["code"]


@contextmanager
def _workspace(team: Team, who: str) -> Iterator[Path]:
    """What a user has at the path that all containers use, while it is mounted there."""
    own, mounted = team.folder / f"{who}-disk", team.folder / "workspace"
    own.mkdir(exist_ok=True)
    own.rename(mounted)
    yield mounted
    mounted.rename(own)


def _write(team: Team, who: str, **files: str) -> None:
    with _workspace(team, who) as root:
        for name, text in files.items():
            (root / f"{name}.py").write_text(f"def {text}():\n    return 1\n")


def _index(team: Team, who: str) -> tuple[int, str]:
    """Index as a user; return the number of added files, and what is found then."""
    report = _report(team, who)
    with _workspace(team, who) as root, team.kit(who, root) as kit:
        return report.added, _code(kit)


def _report(team: Team, who: str) -> IndexReport:
    with _workspace(team, who) as root, team.kit(who, root) as kit:
        report = kit.index(CODE)["code"].report
        assert report is not None
        return report


def _code(kit: ContextKit) -> str:
    return " ".join(sorted(record.text for record in kit.records("code").scan()))


def test_two_containers_with_one_path_keep_their_code(team: Team) -> None:
    """Each finds its own code after either run, and reads nothing twice."""
    _write(team, "ada", a="tide_of_ada")
    _write(team, "bob", a="tide_of_bob", b="harbour_of_bob")
    assert _index(team, "ada")[0] == 1
    assert _index(team, "bob")[0] == 2
    for _ in range(2):
        added, found = _index(team, "ada")
        assert (added, "tide_of_ada" in found, "of_bob" in found) == (0, True, False)
        added, found = _index(team, "bob")
        assert (added, "harbour_of_bob" in found, "of_ada" in found) == (0, True, False)


@pytest.mark.parametrize("lost", ["records", "some", "mark", "collection"])
def test_what_the_server_lost_is_indexed_again(team: Team, lost: str) -> None:
    """The state on this machine says that it is there."""
    _write(team, "ada", a="tide", b="harbour")
    assert _index(team, "ada")[0] == 2
    with _workspace(team, "ada") as root, team.kit("ada", root) as kit:
        checkout = kit.records("code").of_checkout.project
        if lost == "collection":
            team.server.client.delete_collection("contextkit")
        elif lost == "mark":
            kit.store.delete_where(".checkouts", [checkout], {})
        else:
            filters = {"file_path": "a.py"} if lost == "some" else {}
            kit.store.delete_where("code", [checkout], filters)
    added, found = _index(team, "ada")
    assert (added, "tide" in found, "harbour" in found) == (2, True, True)
    assert _index(team, "ada")[0] == 0


def test_a_restored_collection_is_indexed_again(team: Team) -> None:
    """Its records are those of an earlier run, in the same number."""
    _write(team, "ada", a="tide", b="harbour")
    _index(team, "ada")
    client = team.server.client
    stored, _ = client.scroll("contextkit", limit=1000, with_vectors=True)
    before = [
        models.PointStruct(id=point.id, payload=point.payload, vector=cast("Any", point.vector))
        for point in stored
    ]
    _write(team, "ada", a="current")
    _index(team, "ada")
    now, _ = client.scroll("contextkit", limit=1000)
    client.delete("contextkit", [point.id for point in now])
    client.upsert("contextkit", before)
    added, found = _index(team, "ada")
    assert (added, "current" in found, "tide" in found) == (2, True, False)


def test_an_interrupted_run_is_continued(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has written is not thrown away."""
    _write(team, "ada", a="tide")
    _index(team, "ada")
    _write(team, "ada", b="harbour")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, _workspace(team, "ada") as root:
        patch.setattr(ServerStore, "put", killed)
        with team.kit("ada", root) as kit, pytest.raises(KeyboardInterrupt):
            kit.index(CODE)
    report = _report(team, "ada")
    assert (report.unchanged, report.added + report.updated) == (1, 1)


def test_a_folder_that_is_forgotten_has_no_code(team: Team) -> None:
    """`project forget` takes a folder's path, although its checkout is gone; others have none."""
    _write(team, "ada", a="tide")
    _index(team, "ada")
    root = team.repository()
    folder = str(team.folder / "workspace")
    assert team.run("bob", root, "project", "forget", folder, "--yes").exit_code == 5
    with team.kit("ada", root) as kit:
        assert kit.store.count("code", None, {}) > 0
    team.json("ada", root, "project", "forget", folder, "--yes")
    with team.kit("ada", root) as kit:
        assert kit.store.count(None, None, {}) == 0


def test_what_others_delete_during_a_run_is_indexed_again(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that did not see it does not hide it from the next one."""
    _write(team, "ada", a="tide", b="harbour")
    put = ServerStore.put

    def put_beside_prune(store: ServerStore, records: Sequence[Record]) -> None:
        put(store, records)
        if records[0].source == "code":
            forget_checkouts(store, unused_checkouts(store, datetime.now(UTC)))

    with monkeypatch.context() as patch:
        patch.setattr(ServerStore, "put", put_beside_prune)
        assert _report(team, "ada").added == 2
    added, found = _index(team, "ada")
    assert (added, "tide" in found, "harbour" in found) == (2, True, True)
    assert _report(team, "ada").added == 0


def test_prune_deletes_checkouts_that_are_not_indexed(team: Team) -> None:
    """It deletes those of other machines, too; one in use is indexed again."""
    _write(team, "ada", a="tide")
    _write(team, "bob", a="harbour")
    _index(team, "ada")
    _index(team, "bob")
    root = team.repository()
    shown = team.json("bob", root, "prune", "--checkouts", "0m", "--dry-run")
    assert [one["folder"] for one in shown] == [str(team.folder / "workspace")] * 2
    assert team.json("bob", root, "prune", "--checkouts", "1d") == []
    team.json("bob", root, "prune", "--checkouts", "0m")
    with team.kit("bob", root) as kit:
        assert kit.store.count(None, None, {}) == 0
    assert _index(team, "ada")[0] == 1
