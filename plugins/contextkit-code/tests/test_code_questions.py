"""What a question asks for: its words, its project's commands, and which paths count less."""

from __future__ import annotations

import pytest

from contextkit_code.ranking.paths import PathWords, penalty
from contextkit_code.ranking.question import ask, searched_text
from contextkit_code.ranking.subjects import with_command


@pytest.mark.parametrize(
    ("path", "asks"),
    [
        ("tests/helper.py", "tests of it"),
        ("t/unit/helper.py", "tests of it"),
        ("regress/a.sh", "tests of it"),
        ("integration_test/a.exs", "tests of it"),
        ("deps/lua/a.c", "an example"),
        ("scripts/release.py", "which script releases it"),
        ("tools/benchmark_parsing.py", "the benchmark"),
        ("lib/example-server.ts", "an example"),
        ("assets/completions/a.fish", "completion of a name"),
        ("lib/_vendor/a.py", "an example"),
        ("lib/a.spec.ts", "the specs"),
        ("src/FooTest.java", "is it tested"),
        ("src/Shelf.Tests/Helper.cs", "is it tested"),
        ("Tests/Helper.swift", "is it tested"),
        ("src/ShelfTests/Helper.swift", "is it tested"),
        ("app/src/androidTest/A.kt", "is it tested"),
        ("src/testFixtures/A.java", "is it tested"),
        ("src/test_helpers/a.rb", "is it tested"),
        ("shelftest/shelf.go", "is it tested"),
        ("examples/a.go", "an example"),
        ("single_include/a.hpp", "an example"),
        ("src/legacy/a.py", "the legacy code"),
        ("lib/types.d.ts", "deprecated types"),
        ("README.md", "what does the readme say"),
        ("changelog/0.9.3_2018/pull-1876", "what does the changelog say"),
        ("docs/guide.rst", "documentation"),
        ("web/alerts.less", "the color of it"),
        ("web/theme/dark.css", "how do I center the title?"),
    ],
)
def test_what_is_beside_the_point_counts_less_unless_asked_for(path: str, asks: str) -> None:
    """Tests, asides, prose and style sheets."""
    assert penalty(path, ask("how are items capped")) < 1
    assert penalty(path, ask(asks)) > penalty(path, ask("how are items capped"))


@pytest.mark.parametrize(
    "path",
    [
        "src/attest.py",
        "latest/a.go",
        "a/contest/b.go",
        "doc/man.go",
        "src/t/a.c",
        "a/deps/b.py",
        "src/scripts/a.py",
        "src/languages/go.py",
        "src/lang/js.js",
        "src/lang/js/parse.js",
    ],
)
def test_ordinary_files_count_in_full(path: str) -> None:
    """Also those whose names only resemble the others'."""
    assert penalty(path, ask("how are items capped")) == 1.0


def test_files_that_gather_others_count_less() -> None:
    """Whatever is asked; lists of what git leaves out count least."""
    assert penalty("core/database/.gitignore", ask("database")) == 0.3
    assert penalty("a/__init__.py", ask("a")) == penalty("a/index.ts", ask("a")) == 0.7


@pytest.mark.parametrize(
    ("other", "english"),
    [
        ("web/locales/pt-BR.json", "web/locales/en.json"),
        ("locales/de/app.json", "locales/en-US/app.json"),
        ("messages/messages_it.properties", "messages/messages.properties"),
        ("locale/fr/LC_MESSAGES/app.po", "locale/en/LC_MESSAGES/app.po"),
        ("app/i18n/fr/pages.php", "app/i18n/en/pages.php"),
        ("l10n/pt_BR.js", "l10n/en_GB.js"),
    ],
)
def test_texts_in_other_languages_count_less_than_the_english_ones(
    other: str, english: str
) -> None:
    """A program has fifty such files, which share keys and what is not translated."""
    question = ask("what does the save button say?")
    assert penalty(other, question) < penalty(english, question)


def test_the_words_of_a_path_are_compared_with_the_question() -> None:
    """A file of a general name is about its folder; what many files share says less."""
    paths = ["web/client_ws.py", "web/client_app.py", "web/router/mod.rs", "other.py"]
    words = PathWords.of(paths, ask("how the router of the client works"))

    assert words["web/router/mod.rs"].stem == 1.0
    assert 0 < words["web/client_ws.py"].stem < 0.5
    assert words["other.py"].stem == words["other.py"].folders == 0.0
    assert PathWords.of(["web/a.py"], ask("the web"))["web/a.py"].folders == 1.0
    assert PathWords.of(["join_set.rs"], ask("JoinSet"))["join_set.rs"].is_identifier
    assert not PathWords.of(["join_set.rs"], ask("join a set"))["join_set.rs"].is_identifier
    assert PathWords.of([".bashrc"], ask("bashrc"))[".bashrc"].is_identifier


def test_what_a_name_is_says_nothing_of_other_units() -> None:
    """Units about macros do not answer a question about one macro."""
    assert ask("what does the trace macro do?").words == ("trace",)
    assert ask("how does a macro call the tracer?").words == ("macro", "call", "tracer")


def test_that_something_is_decided_is_no_part_of_its_subject() -> None:
    """Code that decides something else had the rarest word of the question."""
    assert ask("how is it decided that a check must be down?").words == ("check", "down")
    assert ask("what determines the size of a pool?").words == ("size", "pool")


def test_what_a_task_calls_new_is_no_part_of_its_subject() -> None:
    """`CookieSameSite` had as much of "add a plugin for a new site" as a plugin's class."""
    assert ask("Please add a plugin for a new site").words == ("plugin", "site")
    assert ask("how is a new client made?").words == ("new", "client")


def test_a_short_task_is_about_what_it_adds() -> None:
    """Two words may be a name: `add_item`."""
    assert searched_text("add a new command") == "a command"
    assert searched_text("add item") == "add item"


def test_what_is_wrong_with_something_is_no_part_of_its_subject() -> None:
    """A pool's workers had as much of "why isn't my pool working?" as the pool."""
    assert ask("why isn't my pool working?").words == ("pool",)
    assert ask("why are my posts in the future missing?").words == ("posts", "future")
    assert ask("where is the working directory set?").words == ("working", "directory")


def test_a_question_where_something_lives_asks_for_no_tests() -> None:
    """Without its verb it is not the text that was asked, as with a task to write tests."""
    assert ask("where does the retry policy live?").asks_for == frozenset()
    assert ask("write tests for the retry policy").asks_for == {"new tests"}


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("why does `shelf lock` wait?", "why does lock command wait?"),
        ("why does `shelf lock --check` wait?", "why does lock command wait?"),
        ("what does shelf lock do?", "what does lock command do?"),
        ("add a --wait option to shelf lock", "add a --wait option to lock command"),
        ("how does shelf lock items?", "how does shelf lock items?"),
        ("why does `git lock` wait?", "why does `git lock` wait?"),
        ("what does other lock do?", "what does other lock do?"),
    ],
)
def test_a_command_of_the_projects_program_is_asked_for_by_its_name(query: str, asked: str) -> None:
    """`LockCommand` says what `shelf lock` does; `shelf` is a word of each file."""
    assert with_command(query, "Shelf") == asked
