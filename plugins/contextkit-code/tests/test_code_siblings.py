"""Tasks that add another one of a kind: what lists all of that kind, and the type that they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit_code.ranking.question import ask as parsed
from contextkit_code.ranking.siblings import Siblings, kind_of, siblings_of

Ask = Callable[..., list[ContextItem]]
Project = Callable[[Mapping[str, str]], Any]

NAMES = ("azure", "ftp", "local", "rest", "sftp", "swift")
TASK = "add a new storage backend"
REGISTER = "".join(f"    known.add({name}.open)\n" for name in NAMES)
IMPORTS = "".join(f"from storage.backend import {name}\n" for name in NAMES)


def backends(**files: str) -> dict[str, str]:
    """A program with several backends, whose code is all about storage."""
    code = {
        f"storage/backend/{name}.py": f"def open_storage(new):\n    return add_storage({name!r})\n"
        for name in NAMES
    }
    return {**code, **files}


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("add a new storage backend", "storage backend"),
        ("Add support for a new dialect", "dialect"),
        ("Please implement another reporter that prints XML", "reporter"),
        ("Can you please add an S3 backend", "s3 backend"),
        ("I want to add a command that lists", "command"),
        ("how do I write my own plugin for a site?", "plugin"),
        ("add a new type of repository", "repository"),
        ("add a new field type", "field type"),
        ("add a gesture action to the dispatcher", "gesture action"),
        ("Add a new backend\n\nIt should store files", "backend"),
        (f"add a {'very ' * 50_000}long list", "very very very very very"),
        ("add a new field to a contact", ""),
        ("add retries", ""),
        ("how does a backend add a file?", ""),
    ],
)
def test_a_task_names_the_kind_of_what_it_adds(query: str, kind: str) -> None:
    """Without what it is for; a part of one thing is no kind."""
    assert kind_of(query) == kind


@pytest.mark.parametrize(
    ("kind", "paths", "found"),
    [
        (
            "storage backend",
            ["src/backends/{}/open.go", "src/backends/backend.go"],
            Siblings("src/backends", [*"abcdef"]),
        ),
        (
            "dialect",
            ["lib/dialects/{}.js", "lib/dialects/index.js", "lib/dialects/_.js", "lib/x_{}.js"],
            Siblings("lib/dialects", [*"abcdef"]),
        ),
        (
            "repository",
            [
                "src/Repository/{}Repository.php",
                "src/Repository/Not{}.php",
                "src/Repository/Un.php",
            ],
            Siblings("src/Repository", [f"{name}Repository" for name in "abcdef"], "last"),
        ),
        ("node type", ["node-types/{}.js"], Siblings("node-types", [*"abcdef"])),
        (
            "field type",
            ["core/field_{}.go", "core/{}.go"],
            Siblings("core", [f"field_{name}" for name in "abcdef"], "first"),
        ),
        (
            "dialect",
            ["sql/dialect_{}.py", "sql/dialect_{}_keywords.py"],
            Siblings("sql", [f"dialect_{name}" for name in "abcdef"], "first"),
        ),
        (
            "subcommand",
            ["main/cmd_{}.go"],
            Siblings("main", [f"cmd_{name}" for name in "abcdef"], "first"),
        ),
        ("content view", ["web/contentviews/{}.py"], Siblings("web/contentviews", [*"abcdef"])),
        ("backend", ["tests/backend/{}.py", "examples/backend/{}.py"], None),
        ("backend", ["storage/{}.py"], None),
    ],
)
def test_siblings_are_in_a_folder_or_have_a_name_of_the_kind(
    kind: str, paths: list[str], found: Siblings | None
) -> None:
    """Tests and examples are none."""
    files = [path.format(name) for name in "abcdef" for path in paths]
    assert siblings_of(kind, files, parsed(f"add a new {kind}")) == found
    assert siblings_of(kind, files[:3], parsed(f"add a new {kind}")) is None


def test_what_lists_all_of_a_kind_comes_first(project: Project, ask: Ask) -> None:
    """It has no word of the task; a question about backends does not ask for it."""
    listing = f"{IMPORTS}\n\ndef register(known):\n{REGISTER}"
    project(backends(**{"storage/backend/all.py": listing}))
    first, second = ask(TASK)[:2]
    assert first.title == "register"
    assert first.location == "storage/backend/all.py:9"
    assert second.title == "open_storage"
    assert first.relevance > second.relevance
    assert ask("how does the storage backend open?")[0].title != "register"


@pytest.mark.parametrize(
    "path", ["tests/test_known.py", "examples/known.py", "api/migrations/known.py", "notes"]
)
def test_tests_examples_migrations_and_notes_are_no_lists(
    project: Project, ask: Ask, path: str
) -> None:
    """They name the backends, and a new one is not added there."""
    project(backends(**{path: f"def register(known):\n{REGISTER}"}))
    assert all("known.add" not in item.content for item in ask(TASK)[:3])


@pytest.mark.parametrize(
    ("stem", "line"),
    [
        ("backend_{}", "    known.add({}Backend)\n"),
        ("{}_backend", "    known.add(new_{}_backend)\n"),
        ("backend-{}", "    known.add(BACKEND_{})\n"),
    ],
)
def test_a_name_may_be_written_in_other_ways(
    project: Project, ask: Ask, stem: str, line: str
) -> None:
    """In either order, in any case, and as a part of an identifier."""
    body = "def open_storage(new):\n    return add_storage(new)\n"
    code = {f"storage/{stem.format(name)}.py": body for name in NAMES}
    rows = "".join(line.format(name.upper()) for name in NAMES)
    project({**code, "setup/known.py": f"def register(known):\n{rows}"})
    assert ask(TASK)[0].title == "register"


def test_a_command_may_be_called_cmd(project: Project, ask: Ask) -> None:
    """A task speaks of a subcommand."""
    code = {
        f"main/cmd_{name}.go": f"package main\n\nfunc run() {{\n\t{name}()\n}}\n" for name in NAMES
    }
    rows = "".join(f"\troot.Add(new{name.title()}Command())\n" for name in NAMES)
    project({**code, "main/main.go": f"package main\n\nfunc main() {{\n{rows}}}\n"})
    assert ask("add a new subcommand that moves files")[0].title == "main"


def test_a_user_of_many_is_no_list(project: Project, ask: Ask) -> None:
    """Neither what imports them from elsewhere, nor a long function that uses them."""
    waits = "    wait(1)\n" * 5
    uses = "".join(f"    move({name}.open)\n{waits}" for name in NAMES)
    project(
        backends(
            **{
                "app/imports.py": f'"""Copy."""\n{IMPORTS}\n',
                "app/copy_all.py": f"def copy_all():\n{uses}",
            }
        )
    )
    assert all("storage/backend/" in str(item.location) for item in ask(TASK)[:2])


@pytest.mark.parametrize("task", [TASK, f"{TASK} class", "implement another backend type"])
def test_the_type_of_a_kind_comes_next(project: Project, ask: Ask, task: str) -> None:
    """The one beside what it is the type of, and not another of that name."""
    types = {
        "storage/base.py": "class Backend:\n    def size(self):\n        return 0\n",
        **dict.fromkeys(
            ("form.py", "storage/web/form.py"),
            "class Backend:\n    storage = add_new = backend = storage_backend = 1\n",
        ),
        "setup/known.py": f"def register(known):\n{REGISTER}",
    }
    project(backends(**types))
    assert [item.location for item in ask(task)[:2]] == ["setup/known.py:1", "storage/base.py:1"]


MEMBERS = ("Paste", "Copy", "Quit", "Scroll", "Search", "Zoom")


@pytest.mark.parametrize(
    ("name", "head", "member"),
    [
        ("src/action.rs", "pub enum Action {{\n{}}}\n", "    /// It.\n    {}(Program),\n"),
        ("src/action.swift", "enum Action {{\n{}}}\n", "    case {}\n"),
        ("src/Action.cs", "enum Action {{\n{}}}\n", "    {},\n"),
        ("src/action.py", "class Action(Enum):\n{}", "    {} = 1\n"),
    ],
)
def test_what_handles_all_members_of_an_enumeration_comes_next(
    project: Project, ask: Ask, name: str, head: str, member: str
) -> None:
    """A new action is a member of `Action`; a class, and an enumeration in tests, are others."""
    enum, other = (
        head.format("".join(member.format(each) for each in names))
        for names in (MEMBERS, [f"Other{number}" for number in range(9)])
    )
    fields = "".join(f"    field{number} = 1\n" for number in range(9))
    handled = "".join(f"    if it is act.{each}:\n        return 1\n" for each in MEMBERS)
    files = {
        name: enum,
        f"tests/{name}": other,
        "app/action.py": f"class Action:\n{fields}",
        "app/handle.py": f"def handle(it):\n{handled}",
        "app/new_action.py": "def add_new_action(keyboard):\n    return keyboard.action()\n",
    }
    project(files)
    first, second = ask("add a new keyboard action")[:2]
    assert (first.title, first.metadata["file_path"]) == ("Action", name)
    assert second.title == "handle"
    assert ask("add a new keyboard motion")[0].title != "Action"


def test_a_long_list_shows_how_one_is_added(project: Project, ask: Ask) -> None:
    """Its head and lines from its middle: more would take the room of an example."""
    rows = "".join(f"    known.add({name}.open, {n})\n" for n in range(9) for name in NAMES)
    project(backends(**{"setup/known.py": f"def register(known, local):\n{rows}"}))
    head, shown = ask(TASK)[0].metadata["lines"]
    assert head == [1, 1]
    assert shown[0] > 10
    assert shown[1] - shown[0] == 10
