"""A project's name in a workspace's file belongs to the workspace that used it first."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextkit import ContextKit, Record
from contextkit.config.load import load_config
from contextkit.config.project_files import read_projects
from contextkit.config.project_links import link as make_link, unlink
from contextkit.config.projects import identify
from contextkit.testing import Git, file_permissions_apply, own_git
from contextkit.workspace.find import find_workspace, repository_of
from tests.making import make_plugin

Named = Callable[..., Path]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path) -> Iterator[None]:
    """A git that knows only the test's settings."""
    with own_git(tmp_path):
        yield


@pytest.fixture
def named(tmp_path: Path) -> Named:
    """Makes a workspace whose file names a project: `named("mine", "ledger")`."""

    def make(folder: str, name: str = "ledger") -> Path:
        root = tmp_path / folder
        root.mkdir(parents=True, exist_ok=True)
        (root / "contextkit.toml").write_text(f"project = {json.dumps(name)}\n")
        return root

    return make


def project_of(root: Path) -> str:
    """What a workspace's records belong to, as any use of it finds out."""
    return identify(root, load_config(find_workspace(root))).project


def link(name: str, root: Path) -> None:
    """Links a workspace to a project, as the command does."""
    make_link(name, root, load_config(find_workspace(root)))


def repository(root: Path) -> Git:
    """A repository with one commit in a folder."""
    git = Git(root)
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", "Begin")
    return git


def test_another_workspace_does_not_read_the_records_of_a_name(named: Named) -> None:
    """A clone that names itself after a project sees nothing of it, and writes nothing there."""
    mine, clone = named("mine"), named("clone")
    for root in (mine, clone):
        with ContextKit.open(root, entry_points=False) as kit:
            kit.register(make_plugin([]), "notes")
            assert [record.id for record in kit.records("notes").scan()] == []
            kit.records("notes").put([Record(id=root.name, text=f"tide of {root.name}")])
    with ContextKit.open(mine, entry_points=False) as kit:
        kit.register(make_plugin([]), "notes")
        assert kit.project == "name:ledger"
        assert [record.id for record in kit.records("notes").scan()] == ["mine"]
    with ContextKit.open(clone, entry_points=False) as kit:
        assert kit.project == str(clone)
        assert kit.identity.problem is not None
        assert str(mine) in kit.identity.problem
        assert kit.identity.remedy is not None
        assert "contextkit project link ledger" in kit.identity.remedy


def test_the_user_links_a_further_workspace(named: Named) -> None:
    """It has the name from then on, also where its kit is open; until it is taken away again."""
    mine, other = named("mine"), named("other")
    assert project_of(mine) == "name:ledger"
    with ContextKit.open(other, entry_points=False) as kit:
        assert kit.project == str(other)
        link("ledger", other)
        assert kit.project == "name:ledger"
    assert unlink("ledger", other)
    assert not unlink("ledger", other)
    assert project_of(other) == str(other)
    assert [(p.name, [m.root for m in p.members]) for p in read_projects()] == [
        ("ledger", [str(mine)])
    ]


def test_a_name_stays_with_a_folder_that_is_gone(named: Named, tmp_path: Path) -> None:
    """A stranger does not win by the absence of the one who had it first."""
    mine = named("mine")
    assert project_of(mine) == "name:ledger"
    moved = mine.rename(tmp_path / "moved")
    assert project_of(moved) == str(moved)
    unlink("ledger", mine)
    assert project_of(moved) == "name:ledger"


@pytest.mark.parametrize("how", ["user", "environment", "host"])
def test_a_name_that_the_user_gives_needs_no_link(
    named: Named, home: Path, how: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And a workspace's file does not get a name afterwards that the user has used so."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for root in (mine, other):
        root.mkdir()
    settings_of_user = (home / "config.toml").read_text()
    if how == "user":
        (home / "config.toml").write_text(f'project = "ledger"\n{settings_of_user}')
    elif how == "environment":
        monkeypatch.setenv("CONTEXTKIT_PROJECT", "ledger")
    settings = {"project": "ledger"} if how == "host" else None
    for root in (mine, other):
        with ContextKit.open(root, entry_points=False, settings=settings) as kit:
            assert (kit.project, kit.identity.problem) == ("name:ledger", None)
    (home / "config.toml").write_text(settings_of_user)
    monkeypatch.delenv("CONTEXTKIT_PROJECT", raising=False)
    clone = named("clone")
    assert project_of(clone) == str(clone)


def test_work_trees_of_one_repository_share_a_name(named: Named, tmp_path: Path) -> None:
    """Whichever used it first, and after that one is gone, too."""
    main = named("main")
    git = repository(main)
    for name in ("one", "two"):
        git("worktree", "add", "--quiet", str(tmp_path / name), "-b", name)
    assert project_of(tmp_path / "one") == "name:ledger"
    assert project_of(main) == "name:ledger"
    git("worktree", "remove", "--force", str(tmp_path / "one"))
    assert project_of(tmp_path / "two") == "name:ledger"


def _pointing(clone: Path, main: Path) -> None:
    (clone / ".git").write_text(f"gitdir: {main / '.git/worktrees/one'}\n")


def _with_its_own_folder(clone: Path, main: Path) -> None:
    private = clone / "fake/worktrees/one"
    private.mkdir(parents=True)
    (private / "commondir").write_text(f"{main / '.git'}\n")
    (private / "gitdir").write_text(f"{clone / '.git'}\n")
    (clone / ".git").write_text(f"gitdir: {private}\n")


def _as_link(clone: Path, main: Path) -> None:
    (clone / ".git").symlink_to(main / ".git")


def _cut_short(clone: Path, _: Path) -> None:
    (clone / ".git").write_bytes(b"gitdir: \0" + b"x" * 20_000)


@pytest.mark.parametrize("forge", [_pointing, _with_its_own_folder, _as_link, _cut_short])
def test_a_forged_work_tree_shares_nothing(
    named: Named, tmp_path: Path, forge: Callable[[Path, Path], None]
) -> None:
    """What a `.git` says of itself is believed only where the repository says it, too."""
    main, clone = named("main"), named("clone")
    repository(main)("worktree", "add", "--quiet", str(tmp_path / "one"), "-b", "one")
    forge(clone, main)
    assert repository_of(tmp_path / "one") == main / ".git"
    assert project_of(main) == "name:ledger"
    assert repository_of(clone) is None
    config = load_config(find_workspace(clone))
    assert identify(clone, config).project == str(clone)


def test_of_many_at_once_one_gets_the_name(named: Named) -> None:
    """Two clones that begin in the same moment do not both have it."""
    roots = [named(f"clone{number}") for number in range(8)]
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda root=root: found.append(project_of(root))) for root in roots
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.count("name:ledger") == 1
    assert len(set(found)) == 8


def test_where_no_link_can_be_written_the_name_is_not_used(named: Named, home: Path) -> None:
    """Reading goes on by the folder's path, and a link that is there counts."""
    mine, other = named("mine", "ledger"), named("other", "new")
    assert project_of(mine) == "name:ledger"
    (home / "projects").chmod(0o500)
    (home / "projects" / "projects.lock").unlink()
    with file_permissions_apply():
        assert project_of(mine) == "name:ledger"
        found = identify(other, load_config(find_workspace(other)))
    (home / "projects").chmod(0o700)
    assert found.project == str(other)
    assert "cannot be written" in (found.problem or "")


def test_a_data_folder_that_is_a_file_makes_no_error(named: Named, home: Path) -> None:
    """No link can be made there either."""
    (home / "projects").write_text("in the way")
    other = named("other")
    assert project_of(other) == str(other)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"name": "ledger", "members": [1]}'])
def test_damage_frees_no_name(named: Named, home: Path, damage: bytes) -> None:
    """Until the user links the folder anew, which mends it."""
    mine = named("mine")
    assert project_of(mine) == "name:ledger"
    (file,) = (home / "projects").glob("*.json")
    file.write_bytes(damage)
    assert project_of(mine) == str(mine)
    assert read_projects() == []
    link("ledger", mine)
    assert project_of(mine) == "name:ledger"


@pytest.mark.parametrize("name", ["/etc/../x", "a b\tc", "é" * 400, "\u202e", 'it\'s; rm -rf "x"'])
def test_a_name_may_be_any_text(named: Named, name: str) -> None:
    """It is no file's name, and the command that links it is quoted."""
    mine, other = named("mine", name), named("other", name)
    assert project_of(mine) == f"name:{name}"
    found = identify(other, load_config(find_workspace(other)))
    assert found.project == str(other)
    link(name, other)
    assert project_of(other) == f"name:{name}"


def test_the_links_are_the_users_alone(named: Named, home: Path) -> None:
    """The folder says which projects there are."""
    project_of(named("mine"))
    assert stat.S_IMODE(os.stat(home / "projects").st_mode) == 0o700  # noqa: PTH116


def test_a_move_keeps_every_record_whatever_ids_are_taken(tmp_path: Path) -> None:
    """Of a record that both have, the moved one gets an id that is free in both projects."""
    given = {
        "a": {"x": "a", "x-2": "a, second"},
        "b": {"x": "b"},
        "c": {"x": "c"},
    }
    with ContextKit.open(tmp_path, entry_points=False) as kit:
        kit.register(make_plugin([]), "notes")
        kit.store.put(
            [
                Record(id=name, text=text, source="notes", project=project)
                for project, texts in given.items()
                for name, text in texts.items()
            ]
        )
        assert kit.project_records.move("a", "b") == 2
        assert kit.project_records.move("c", "b") == 1
        kept = {record.id: record.text for record in kit.store.scan("notes", ["b"], {})}
    assert kept == {"x": "b", "x-2": "a, second", "x-3": "a", "x-4": "c"}


def test_an_interrupted_move_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written under another id before is found there, and not written twice."""
    with ContextKit.open(tmp_path, entry_points=False) as kit:
        kit.register(make_plugin([]), "notes")
        texts = [("a", "x"), ("a", "x-2"), ("b", "x")]
        kit.store.put([Record(id=i, text=p, source="notes", project=p) for p, i in texts])
        with monkeypatch.context() as patch:
            patch.setattr(type(kit.store), "delete", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                kit.project_records.move("a", "b")
        kit.project_records.move("a", "b")
        kept = {record.id: record.text for record in kit.store.scan("notes", ["b"], {})}
    assert kept == {"x": "b", "x-2": "a", "x-3": "a"}
