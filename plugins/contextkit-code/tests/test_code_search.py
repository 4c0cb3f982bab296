"""Finding code: the items, and in what order they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import contextkit_code
from contextkit import ContextItem, Record, Records

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]


def test_an_item_has_the_fields_of_seed_1(project: Project, ask: Ask) -> None:
    """And those that heading, truncation and lists of sources need."""
    code = 'def cap_item(item):\n    """Cap one item."""\n    return item'
    project({"budget/caps.py": f"\n\n{code}\n"})

    (item,) = ask("cap an item")

    assert ("code", code, code) == (item.source, item.content, item.text)
    assert (item.id, item.kind) == ("budget/caps.py::cap_item", "function")
    assert (item.title, item.location) == ("cap_item", "budget/caps.py:3")
    assert item.metadata == {
        "file_path": "budget/caps.py",
        "start_line": 3,
        "end_line": 5,
        "language": "python",
        "qualified_name": "cap_item",
        "name": "cap_item",
        "unit_type": "function",
        "signature": "def cap_item(item):",
        "docstring": "Cap one item.",
    }
    assert 0 < item.relevance <= 1
    assert item.created_at is None


def test_what_matches_is_shown_of_a_long_class_head_and_docstring(
    project: Project, ask: Ask
) -> None:
    """By their line numbers; a class that is named is shown whole."""
    fields = "".join(f"    part_{n} = {n}\n    # About the part.\n\n" for n in range(20))
    head = f'class Engine:\n    """Runs."""\n\n{fields}    redirect_slashes = True\n\n'
    docs = "".join(f"        Line {n}.\n\n" for n in range(9))
    method = f'    def start(self):\n        """Start it.\n\n{docs}        """\n        go()\n'
    project({"engine.py": head + method})

    (redirecting,) = [item for item in ask("does it redirect slashes?") if item.title == "Engine"]
    (starting,) = [item for item in ask("start it") if item.title == "Engine.start"]
    (named,) = [item for item in ask("Engine") if item.title == "Engine"]
    (shown,) = contextkit_code.contextkit_format([redirecting], "markdown", "full")

    assert redirecting.metadata["lines"] == [[1, 2], [62, 64]]
    assert "    # ... lines 3-61\n" in shown
    assert starting.metadata["lines"] == [[66, 67], [86, 88]]
    assert "lines" not in named.metadata


def test_a_verb_of_asking_may_be_the_name_of_a_thing(project: Project, ask: Ask) -> None:
    """`Live` is the subject of a question, unless it asks where something lives."""
    live = "class Live:\n    'A display.'\n\n    def update(self, text):\n        self.show(text)\n"
    wide = "class Screen:\n    'A wide display.'\n\n    def update(self):\n        self.show()\n"
    project({"live.py": live, "screen.py": wide})

    assert ask("live display: what happens when it is too wide?")[0].title == "Live"
    assert ask("where does the wide display live?")[0].title == "Screen"


def test_a_file_is_explained_from_its_top(project: Project, ask: Ask) -> None:
    """Where a question is about the file as a whole."""
    shelf = (
        "def open_door():\n    go()\n\n\ndef shelf(jars):\n    'Put jars on a shelf.'\n    go()\n"
    )
    project({"lib/shelf.py": shelf})

    assert ask("explain lib/shelf.py")[0].title == "open_door"
    assert ask("how are jars put on lib/shelf.py?")[0].title == "shelf"


def test_a_program_starts_with_its_main_function(project: Project, ask: Ask) -> None:
    """Whatever else is called an entry."""
    project(
        {"entry.py": "def point(entry):\n    return entry\n", "app.py": "def main():\n    go()\n"}
    )

    assert ask("where is the entry point?")[0].title == "main"
    assert ask("where is an entry point?")[0].title == "point"


def test_code_says_nothing_about_all_that_changed(project: Project, ask: Ask) -> None:
    """It does about what changed in a part of it, and about code that handles changes."""
    project({"changes.py": "def recent_changes(release):\n    return release.changes\n"})

    assert ask("what changed in the latest release?") == []
    assert ask("what changed recently?") == []
    assert ask("what does this project do?") == []
    assert ask("what changed recently in recent_changes?") != []
    assert ask("how are recent changes computed?") != []


def test_a_unit_of_nothing_but_its_signature_comes_last(project: Project, ask: Ask) -> None:
    """An empty method behind one that does something."""
    code = "class Parser:\n    'Parses.'\n\n" + "    x = 1\n" * 12
    code += "    def on_end(self):\n        pass\n\n"
    code += "    def on_data(self, end):\n        self.end = end\n        self.feed(end)\n"
    project({"parser.py": code})

    titles = [item.title for item in ask("what happens at the end of the parser data?")]

    assert titles.index("Parser.on_data") < titles.index("Parser.on_end")


def test_a_path_and_parts_of_identifiers_find_code(project: Project, ask: Ask) -> None:
    """Words that stand in the path, in camelCase, in snake_case and before a digit."""
    project(
        {
            "billing/invoice.py": "def run():\n    return 1\n",
            "a.js": "function parseHeader(x) {\n  return x;\n}\n",
            "b.py": "def flush_queue():\n    return 2\n",
            "c.py": "class BatchNorm1d:\n    x = 3\n",
        }
    )

    assert ask("billing")[0].id == "billing/invoice.py::run"
    assert ask("how is a header parsed")[0].id == "a.js::parseHeader"
    assert ask("the queue")[0].id == "b.py::flush_queue"
    assert ask("norm")[0].id == "c.py::BatchNorm1d"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("retry with backoff delay", "client.py"),
        ("tests of retry backoff delay", "tests/test_client.py"),
        ("retry with backoff delay\n\nI ran the tests with an example. It hangs.", "client.py"),
        ("a test for retry backoff delay\n\nThe client has none.", "tests/test_client.py"),
        ("test_call", "tests/test_client.py"),
    ],
)
def test_tests_count_half_unless_they_are_asked_for(
    project: Project, ask: Ask, query: str, path: str
) -> None:
    """The first line says whether they are; a report mentions tests without asking for them."""
    body = "    retry = backoff(delay)\n    return retry\n"
    test = f"def test_call():\n    # retry backoff delay\n{body}"
    project({"client.py": f"def call():\n{body}", "tests/test_client.py": test})

    assert ask(query)[0].metadata["file_path"] == path


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("where is the lid written", "write_lid"),
        ("where do we write the lid", "write_lid"),
        ("where is the verification of the lid", "verify_lid"),
    ],
)
def test_irregular_forms_of_a_word_are_one(
    project: Project, ask: Ask, query: str, name: str
) -> None:
    """A verb, its past and its noun name the same function."""
    other = "def lid_of(lid):\n    # the lid of the lid, and where a lid is\n    return lid.lid\n"
    project({"a.py": other, "b.py": f"def {name}():\n    return 1\n"})

    assert ask(query)[0].title == name


def test_code_of_an_older_version_ranks_below_the_newest(project: Project, ask: Ask) -> None:
    """It has more of the question's words, and leads where the question names its version."""
    body = "    retry = backoff(delay)\n    return retry\n"
    older = f"def call():\n    # retry the call\n{body}"
    project({"v1/client.py": older, "v2/client.py": f"def call():\n{body}"})

    assert ask("how does backoff retry the call")[0].metadata["file_path"] == "v2/client.py"
    assert ask("how does backoff in v1 retry")[0].metadata["file_path"] == "v1/client.py"


def test_a_test_beside_the_code_that_it_tests_ranks_below_it(project: Project, ask: Ask) -> None:
    """Rust has tests in a module of the same file."""
    delays = "    let delay = retry_backoff(1);\n    assert!(delay > 0);\n"
    project(
        {
            "src/client.rs": f"pub fn call() {{\n{delays}}}\n\n#[cfg(test)]\nmod tests {{\n"
            f"    #[test]\n    fn retry_backoff_delay() {{\n{delays}{delays}    }}\n}}\n"
        }
    )

    assert ask("how is the retry backoff delay called")[0].title == "call"
    assert "tests" in str(ask("which test has a retry backoff delay")[0].title)


def test_a_test_beside_its_code_does_not_stand_for_its_file(project: Project, ask: Ask) -> None:
    """Its name has the words of a question that is about another file."""
    run = "pub fn run() {\n" + "    start_the_program_and_wait_for_it();\n" * 9 + "}\n"
    tests = "#[test]\n    fn parses_language_version_module() {\n" + "        assert!(1 > 0);\n" * 9
    file = f"{run}\n#[cfg(test)]\nmod tests {{\n    {tests}    }}\n}}\n"
    mod = "pub fn add_module(language: &str) {\n    all.push(version);\n}\n"
    project({"src/go.rs": file, "src/perl.rs": file, "src/all.rs": mod})

    assert ask("add a module for a language version")[0].title == "add_module"


def test_a_variable_ranks_below_what_it_is_passed_to(project: Project, ask: Ask) -> None:
    """Its name and its description say the same, unless somebody asks how to use the module."""
    project(
        {
            "main.tf": 'resource "aws_group" "node" {\n  count = 2\n  id    = var.node_group\n}\n'
            '\nvariable "node_group" {\n  description = "The group of a node"\n}\n'
        }
    )

    assert ask("where is the group of a node created")[0].title == "aws_group.node"
    assert ask("how do I use the group of a node")[0].title == "var.node_group"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Router.match", "Router"),
        ("what does match_all do", "match_all"),
        ("match", "match"),
        ("Router::match", "Router"),
    ],
)
def test_a_definition_that_is_named_comes_first(
    project: Project, ask: Ask, query: str, expected: str
) -> None:
    """By its name, or by that of what it holds; a plain word among others names nothing."""
    noise = "".join(
        f"def n{n}():\n    # match router Router work match_all\n    return {n}\n\n\n"
        for n in range(20)
    )
    project(
        {
            "noise.py": noise,
            "router.py": "class Router:\n    def match(self):\n        return self.table\n",
            "all.py": "def match_all():\n    return 1\n",
            "one.py": "def match():\n    return 1\n",
        }
    )

    items = ask(query)

    assert expected == items[0].title
    assert all(0 <= item.relevance <= 1 for item in items)
    assert items == sorted(items, key=lambda item: -item.relevance)


def test_a_name_comes_before_what_only_uses_it(project: Project, ask: Ask) -> None:
    """However often it is used, and by the windows of its own class."""
    methods = "".join(
        f"    REMARK{n} = 'Depot'\n\n    def m{n}(self):\n" + "        self.go()\n" * 20 + "\n"
        for n in range(4)
    )
    project(
        {
            "depot.py": f'class Depot:\n    """{"Long words. " * 60}"""\n\n{methods}',
            "use.py": "".join(f"def f{n}():\n    Depot(Depot, Depot)\n\n\n" for n in range(9)),
        }
    )

    assert ask("Depot")[0].title == "Depot"
    assert ask("where is a Depot used")[0].kind == "class"


def test_a_capital_at_the_start_of_a_sentence_makes_no_name(project: Project, ask: Ask) -> None:
    """`New` is a function in many a Go package."""
    project(
        {
            "a.go": "package a\n\nfunc New() {}\n",
            "b.go": "package b\n\n// accept connections\nfunc accept(connections int) {}\n",
        }
    )

    assert ask("New connections are accepted where")[0].title == "accept"
    assert ask("what does New do")[0].title == "New"
    assert ask("New")[0].title == "New"


def test_filters(project: Project, ask: Ask) -> None:
    """Any field of a record can be filtered on."""
    project({"a.py": "def load():\n    return 'load'\n", "a.go": "package p\n\nfunc load() {}\n"})

    assert [item.id for item in ask("load", filters={"language": "go"})] == ["a.go::load"]
    assert [item.id for item in ask("load", filters={"file_path": "a.py"})] == ["a.py::load"]
    assert ask("load", filters={"unit_type": ["class", "struct"]}) == []


def test_a_record_that_others_made_is_shown_too(records: Records, ask: Ask) -> None:
    """Whatever fields it lacks."""
    records.put([Record(id="note", text="remember the milk", fields={"kind": "unit"})])

    (item,) = ask("milk")

    assert (item.title, item.location, item.kind) == ("note", None, "lines")
    assert (contextkit_code.contextkit_format([item], "markdown", "full")) == [
        "**Code** `note`\n```\nremember the milk\n```"
    ]
    assert contextkit_code.contextkit_source().dedup_keys(item.id, item.metadata) == ()


@pytest.mark.parametrize(
    "task",
    [
        "write a unit test for the winch brake",
        "Please add some tests for the winch brake",
        "Could you write integration tests of the winch brake",
    ],
)
def test_who_writes_a_test_sees_the_code_and_two_tests_of_it(
    project: Project, ask: Ask, task: str
) -> None:
    """Not what writes or is a unit, and not all of the tests."""
    brakes = "".join(f"def brake_{n}(winch):\n    winch.stop({n})\n\n\n" for n in range(5))
    tests = "".join(f"def test_winch_brake_{n}():\n    brake_{n}(winch)\n\n\n" for n in range(5))
    writers = "".join(f"def write_unit_{n}(unit):\n    write(unit)\n\n\n" for n in range(5))
    project({"winch.py": brakes, "test_winch.py": tests, "units.py": writers})
    paths = [item.metadata["file_path"] for item in ask(task, limit=6)]
    assert paths == ["winch.py"] * 2 + ["test_winch.py"] * 2 + ["winch.py"] * 2
