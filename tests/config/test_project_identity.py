"""A project is what git says it is: work trees, renames and clones keep its memories."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve

from contextkit import ContextKit, Record
from contextkit.config.load import load_config
from contextkit.config.project_files import projects_locked, read_projects
from contextkit.config.project_links import link, unlink
from contextkit.indexing.run import index_sources
from contextkit.testing import Git, own_git
from contextkit.workspace.find import find_workspace

Notes = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path) -> Iterator[None]:
    """A git that knows only the test's settings, and clones from folders."""
    with own_git(tmp_path):
        yield


@pytest.fixture
def notes(make_plugin: Callable[..., object]) -> Notes:
    """Adds a note in a folder, if one is given, and lists those that the folder sees."""

    def look(root: Path, added: str = "", **settings: object) -> list[str]:
        given = {key.replace("__", "."): value for key, value in settings.items()}
        with ContextKit.open(root, entry_points=False, settings=given) as kit:
            kit.register(make_plugin([]), "notes")
            records = kit.records("notes")
            if added:
                records.put([Record(id=added, text=f"note {added}")])
            return sorted(record.id for record in records.scan())

    return look


def repository(root: Path, commit: str = "Begin") -> Git:
    """A repository with one commit in a folder."""
    root.mkdir(parents=True, exist_ok=True)
    git = Git(root)
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", f"{commit} of {root.name}")
    return git


def _worktree(main: Path, git: Git) -> Path:
    git("worktree", "add", "--quiet", str(main.parent / "tree"), "-b", "tree")
    return main.parent / "tree"


def _renamed(main: Path, git: Git) -> Path:
    return main.rename(main.parent / "renamed")


def _moved_and_changed(main: Path, git: Git) -> Path:
    moved = main.rename(main.parent / "moved")
    Git(moved)("remote", "add", "origin", "https://example.org/ada/main.git")
    return moved


def _clone(main: Path, git: Git) -> Path:
    git("clone", "--quiet", str(main), str(main.parent / "clone"))
    return main.parent / "clone"


def _clone_of_the_remote(main: Path, git: Git) -> Path:
    clone = _clone(main, git)
    git("remote", "add", "origin", "git@example.org:ada/Main.git")
    Git(clone)("remote", "set-url", "origin", "https://ada:secret@example.org/ada/main")
    return clone


def _shallow_clone(main: Path, git: Git) -> Path:
    git("commit", "--quiet", "--allow-empty", "-m", "Go on")
    git("config", "remote.origin.url", "https://example.org/ada/main.git")
    clone = main.parent / "shallow"
    git("clone", "--quiet", "--depth", "1", f"file://{main}", str(clone))
    Git(clone)("remote", "set-url", "origin", "https://example.org/ada/main.git")
    return clone


def _subfolder(main: Path, git: Git) -> Path:
    (main / "deep/er").mkdir(parents=True)
    return main / "deep/er"


def _worktree_of_a_bare_one(main: Path, git: Git) -> Path:
    tree = main.parent / "bare tree"
    bare = main.parent / "bare.git"
    git("clone", "--quiet", "--bare", str(main), str(bare))
    git("-C", str(bare), "worktree", "add", "--quiet", str(tree), "-b", "tree")
    return tree


def _rewritten(main: Path, git: Git) -> Path:
    git("checkout", "--quiet", "--orphan", "new")
    git("commit", "--quiet", "--allow-empty", "-m", "Begin anew")
    return main


@pytest.mark.parametrize(
    "change",
    [
        _worktree,
        _renamed,
        _moved_and_changed,
        _clone,
        _clone_of_the_remote,
        _subfolder,
        _worktree_of_a_bare_one,
        _rewritten,
    ],
)
def test_notes_follow_their_repository(
    tmp_path: Path, notes: Notes, change: Callable[[Path, Git], Path]
) -> None:
    """What was noted in one place of a repository is seen in all of them, and both ways."""
    main = tmp_path / "main"
    git = repository(main)
    assert notes(main, "first") == ["first"]
    other = change(main, git)
    assert notes(other, "second") == ["first", "second"]


def _copy(main: Path, git: Git) -> Path:
    return Path(shutil.copytree(main, main.parent / "copy"))


def _fork(main: Path, git: Git) -> Path:
    git("remote", "add", "origin", "https://example.org/ada/main.git")
    fork = _clone(main, git)
    Git(fork)("remote", "set-url", "origin", "https://example.org/eve/main.git")
    return fork


def _other_repository(main: Path, git: Git) -> Path:
    other = main.parent / "other"
    repository(other, "Another beginning")
    return other


def _replaced(main: Path, git: Git) -> Path:
    shutil.rmtree(main)
    repository(main, "Another beginning")
    return main


def _nested(main: Path, git: Git) -> Path:
    service = main / "services/billing"
    service.mkdir(parents=True)
    (service / "contextkit.toml").write_text("")
    return service


def _submodule(main: Path, git: Git) -> Path:
    library = main.parent / "library"
    repository(library)
    git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(library), "lib")
    return main / "lib"


def _with_a_pointer(main: Path, git: Git) -> Path:
    forged = main.parent / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {main / '.git'}\n")
    return forged


@pytest.mark.parametrize(
    "make",
    [
        _copy,
        _fork,
        _shallow_clone,
        _other_repository,
        _replaced,
        _nested,
        _submodule,
        _with_a_pointer,
    ],
)
def test_what_is_another_project_sees_nothing(
    tmp_path: Path, notes: Notes, make: Callable[[Path, Git], Path]
) -> None:
    """A fork, a copy, a part with settings of its own, or a forged folder has its own notes.

    So has a shallow clone: its first commit is not known, and its remote is no proof.
    """
    main = tmp_path / "main"
    git = repository(main)
    assert notes(main, "first") == ["first"]
    assert notes(make(main, git), "second") == ["second"]


def test_parts_of_a_repository_are_projects_in_every_work_tree(
    tmp_path: Path, notes: Notes
) -> None:
    """In a monorepo, each folder with settings is a project, told apart by its path."""
    main = tmp_path / "main"
    git = repository(main)
    for part in ("billing", "search"):
        (main / part).mkdir()
        (main / part / "contextkit.toml").write_text("")
        notes(main / part, part)
    git("add", "--all")
    git("commit", "--quiet", "-m", "Add services")
    tree = _worktree(main, git)
    assert [notes(tree / part) for part in ("billing", "search")] == [["billing"], ["search"]]


def test_a_folder_keeps_its_notes_when_it_becomes_a_repository(
    tmp_path: Path, notes: Notes
) -> None:
    """Before `git init`, after it, and after the first commit, also in a work tree."""
    folder = tmp_path / "plain"
    folder.mkdir()
    notes(folder, "plain")
    git = Git(folder)
    git("init", "--quiet")
    assert notes(folder, "initial") == ["initial", "plain"]
    git("commit", "--quiet", "--allow-empty", "-m", "Begin")
    assert notes(_worktree(folder, git)) == ["initial", "plain"]
    assert [project.adopted for project in read_projects()] == [(str(folder),)]


def test_processes_at_the_first_use_agree(
    tmp_path: Path, notes: Notes, make_plugin: Callable[..., object]
) -> None:
    """One that cannot wait for the others writes where they look."""
    repository(tmp_path / "shop")
    with ContextKit.open(tmp_path / "shop", entry_points=False) as kit:
        kit.register(make_plugin([]), "notes")
        with projects_locked(), pytest.MonkeyPatch.context() as impatient:
            impatient.setattr("contextkit.config.project_files._LOCK_SECONDS", 0.01)
            records = kit.records("notes")
        notes(tmp_path / "shop", "quick")
        records.put([Record(id="slow", text="note slow")])
    assert notes(tmp_path / "shop") == ["quick", "slow"]


def test_a_work_tree_can_be_kept_apart(tmp_path: Path, notes: Notes) -> None:
    """By a setting for all of them, and by a command for one."""
    main = tmp_path / "main"
    git = repository(main)
    notes(main, "main")
    tree = _worktree(main, git)
    assert notes(tree, "apart", store__isolate_worktrees=True) == ["apart"]
    assert notes(main, store__isolate_worktrees=True) == ["main"]
    assert "main" in notes(tree)
    assert unlink(None, tree)
    assert "main" not in notes(tree)
    # What the work tree had noted alone joined the project with it.
    assert notes(main) == ["apart", "main"]


@pytest.mark.parametrize("by", ["folder", "key"])
def test_a_link_joins_what_was_apart(
    tmp_path: Path, notes: Notes, by: str, make_plugin: Callable[..., object]
) -> None:
    """The notes of the linked folder move along, so that all see all."""
    main = tmp_path / "main"
    git = repository(main)
    notes(main, "first")
    fork = _fork(main, git)
    notes(fork, "second")
    target = str(main) if by == "folder" else read_projects()[0].key
    with ContextKit.open(fork, entry_points=False) as kit:
        kit.register(make_plugin([]), "notes")
        link(target, fork, kit.config, kit.project_records)
        assert kit.project == read_projects()[0].key
    assert notes(fork) == notes(main) == ["first", "second"]
    assert len(read_projects()) == 1


def test_a_shallow_clone_says_how_it_is_linked(tmp_path: Path, notes: Notes) -> None:
    """On its first use, with the project that has the same remote."""
    main = tmp_path / "main"
    git = repository(main)
    git("config", "remote.origin.url", "https://example.org/ada/main.git")
    notes(main, "first")
    with ContextKit.open(_shallow_clone(main, git), entry_points=False) as kit:
        key = read_projects()[0].key
        assert kit.identity.note is not None
        assert f"`contextkit project link {key}` shares the records" in kit.identity.note


@pytest.mark.parametrize("given", ["path", "key"])
def test_a_setting_of_the_user_can_name_a_project_by_its_place(
    tmp_path: Path, notes: Notes, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`CONTEXTKIT_PROJECT` with the old path of a folder brings back its notes anywhere."""
    main, elsewhere = tmp_path / "main", tmp_path / "elsewhere"
    repository(main)
    elsewhere.mkdir()
    notes(main, "first")
    named = str(main) if given == "path" else read_projects()[0].key
    monkeypatch.setenv("CONTEXTKIT_PROJECT", named)
    assert notes(elsewhere) == ["first"]


def test_a_file_of_a_clone_names_no_place(tmp_path: Path, notes: Notes) -> None:
    """A path in a workspace's file is a name like any other."""
    main, clone = tmp_path / "main", tmp_path / "clone"
    repository(main)
    notes(main, "first")
    clone.mkdir()
    (clone / "contextkit.toml").write_text(f'project = "{main}"\n')
    assert notes(clone) == []


def test_on_a_shared_store_a_clone_joins_only_what_its_user_links(
    tmp_path: Path, notes: Notes
) -> None:
    """Another computer's records of the same repository are joined by a command, and not before.

    The server is one embedded store that claims to be shared: what decides is the registry of
    projects, which each computer has for itself.
    """
    from contextkit.config.projects import identify

    class Shared:
        is_shared = True

        def has(self, project: str) -> bool:
            return project.startswith("git:")

        def move(self, old: str, new: str) -> int:
            return 0

    main = tmp_path / "main"
    repository(main)
    config = load_config(find_workspace(main))
    found = identify(main, config, Shared())
    key, _, own = found.project.partition("~")
    assert own
    assert f"contextkit project link {key}" in (found.note or "")
    link(key, main, config)
    assert identify(main, config, Shared()).project == key


def test_code_belongs_to_its_checkout(tmp_path: Path) -> None:
    """Each work tree finds the code that it has, and none of the other's."""
    main = tmp_path / "main"
    git = repository(main)
    (main / "tide.py").write_text("def tide_of_main(): ...\n")
    git("add", "--all")
    git("commit", "--quiet", "-m", "Add the tide")
    tree = _worktree(main, git)
    (tree / "tide.py").write_text("def tide_of_tree(): ...\n")
    found = {}
    for root in (main, tree, main):
        with ContextKit.open(root) as kit:
            kit.index(["code"])
            found[root] = [record.text for record in kit.records("code").scan()]
    assert "tide_of_main" in str(found[main])
    assert "tide_of_tree" not in str(found[main])
    assert "tide_of_main" not in str(found[tree])


def test_code_that_earlier_versions_indexed_for_a_name_goes(tmp_path: Path) -> None:
    """It was shared by all folders of the name; now each folder has the code that it has."""
    root = tmp_path / "main"
    root.mkdir()
    (root / "tide.py").write_text("def tide(): ...\n")
    with ContextKit.open(root, settings={"project": "ledger"}) as kit:
        index_sources(
            kit.registry,
            kit.store,
            {"code": kit.pipeline.records("code", kit.project)},
            root,
            progress=lambda _: None,
            wait=True,
        )
        assert kit.store.count("code", ["name:ledger"], {}) > 0
        kit.index(["code"])
        assert kit.store.count("code", ["name:ledger"], {}) == 0
        assert kit.store.count("code", [str(root)], {}) > 0


def test_notes_that_a_work_tree_had_by_its_path_are_taken_over(
    tmp_path: Path, notes: Notes
) -> None:
    """Earlier versions kept the notes of each folder by its path."""
    main = tmp_path / "main"
    git = repository(main)
    tree = _worktree(main, git)
    with ContextKit.open(tree, entry_points=False) as kit:
        notes_of_path = Record(id="by path", text="note by path", source="notes")
        kit.store.put([evolve(notes_of_path, project=str(folder)) for folder in (main, tree)])
    assert notes(main) == ["by path"]
    assert notes(tree) == ["by path"]
