"""The conformance suite: tests that a source's author inherits."""

from __future__ import annotations

import contextlib
import importlib.metadata
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from contextkit.errors import ContextKitError, PluginError
from contextkit.kit import ContextKit
from contextkit.models.record import Record
from contextkit.plugin.spec import ENTRY_POINT_GROUP
from contextkit.testing import (
    filter_checks,
    hook_checks,
    listening_checks,
    query_checks,
    record_checks,
    summary_checks,
    text_checks,
)
from contextkit.testing.subject import NotConformingError, Subject, open_subject


class SourceConformance:
    """The requirements for a source, as tests to inherit.

    ```python
    class TestWeather(SourceConformance):
        source = contextkit_weather
        query = "rain in Berlin"

        def records(self):
            return [Record(id="berlin", text="Berlin: rain until noon")]
    ```

    Each test has a workspace, a store and a configuration of its own. A test that fails says in
    one line what is wrong and what would be right. What is only known at run time, such as the
    address of a server, an `autouse` fixture of the class sets: `self.settings = {"url": …}`.

    Attributes:
        source: the plugin: a module, a class, or an object; or override `make_source`.
        query: a query that finds something, better two things or more.
        name: the source's name; default: that of the entry point that names the plugin.
        timeout: seconds that one query may take here, where a machine may be busy.
        settings: the source's own settings, `[sources.NAME]`.
        filters: the filters of every query.
        embedding: the model of the dense vectors, as `embedding.model`; `none` searches by
            keywords alone, which is quick.
        recipe_arguments: recipe -> its arguments, for a source that offers recipes.
        transcripts: a folder with transcripts of each importer, for a source that offers some.
    """

    source: Any = None
    query: str = ""
    name: str = ""
    timeout: float = 10.0
    settings: Mapping[str, Any] = {}
    filters: Mapping[str, Any] = {}
    embedding: str = "none"
    recipe_arguments: Mapping[str, Mapping[str, Any]] = {}
    transcripts: Path | None = None

    # -- parts to override ---------------------------------------------------------------

    def make_source(self) -> object:
        """Return the plugin to test.

        Override this to make a new one for every test.
        """
        return self.source

    def make_workspace(self, folder: Path) -> None:
        """Fill the workspace's folder with files or a repository.

        Override this for a source that reads them.
        """

    def records(self) -> Sequence[Record]:
        """Return records to store before the tests run."""
        return ()

    def prepare(self, kit: ContextKit) -> None:
        """Prepare anything else that the tests need.

        It runs after `records` were stored and before the index run.
        """

    # -- the tests ------------------------------------------------------------------------

    @pytest.fixture
    def subject(self, tmp_path: Path) -> Iterator[Subject]:
        """The source in its own kit, with its records, indexed."""
        name = self._named()
        opened = open_subject(
            self.make_source(),
            name,
            tmp_path / "workspace",
            query=self.query,
            timeout=self.timeout,
            filters=self.filters,
            settings=self.settings,
            embedding=self.embedding,
            make_workspace=self.make_workspace,
        )
        with contextlib.ExitStack() as stack:
            try:
                subject = stack.enter_context(opened)
            except PluginError as error:
                pytest.skip(f"it cannot be registered, as test_its_hooks says: {error}")
            subject.kit.records(name).put(self.records())
            self.prepare(subject.kit)
            if subject.has("contextkit_index"):
                subject.kit.index([name])
            yield subject

    def _named(self) -> str:
        source = self.make_source()
        if source is None:
            _fail("`source` is not set: name the plugin, or override make_source()")
        name = self.name or _entry_point_of(source)
        if not name:
            _fail("`name` is not set, and no installed entry point names the plugin")
        if not self.query.strip():
            _fail("`query` is not set: give one that finds something")
        return name

    def test_its_hooks(self) -> None:
        """Hook names and parameters exist; only the query is async."""
        name = self._named()
        _must(name, lambda: hook_checks.check_hooks(self.make_source(), name))

    def test_its_info(self, subject: Subject) -> None:
        """`contextkit_source` gives a SourceInfo, one line each, always the same."""
        _must(subject.name, lambda: hook_checks.check_info(subject))

    def test_its_settings(self, subject: Subject) -> None:
        """`contextkit_check_settings` accepts empty settings, and names an unknown one."""
        _must(subject.name, lambda: hook_checks.check_settings(subject))

    def test_its_weight(self, subject: Subject) -> None:
        """Its weight is finite and over 0 for every query."""
        _must(subject.name, lambda: hook_checks.check_weight(subject))

    def test_its_signals(self, subject: Subject) -> None:
        """Every query's signals have the right types, and are stable."""
        _must(subject.name, lambda: hook_checks.check_signals(subject))

    def test_its_scores_of_items(self, subject: Subject) -> None:
        """`contextkit_rerank` gives each item a score within 0..1, stably."""
        _must(subject.name, lambda: hook_checks.check_rerank(subject))

    def test_its_health(self, subject: Subject) -> None:
        """`contextkit_health` reports known states, with a remedy for each fault."""
        _must(subject.name, lambda: hook_checks.check_health(subject))

    def test_its_recipes(self, subject: Subject) -> None:
        """Each recipe has a description and can be built."""
        _must(subject.name, lambda: hook_checks.check_recipes(subject, self.recipe_arguments))

    def test_its_tools(self, subject: Subject) -> None:
        """Each tool has a name, a description, and typed parameters."""
        _must(subject.name, lambda: hook_checks.check_tools(subject))

    def test_its_commands(self, subject: Subject) -> None:
        """Commands can be imported, have a summary and unique names."""
        _must(subject.name, lambda: listening_checks.check_commands(subject))

    def test_agents_events(self, subject: Subject) -> None:
        """`contextkit_agent_event` does not fail, whatever an agent reports."""
        _must(subject.name, lambda: listening_checks.check_agent_events(subject))

    def test_its_importers(self, subject: Subject) -> None:
        """`contextkit_importers` reads the same events twice, each with an id."""
        _must(subject.name, lambda: listening_checks.check_importers(subject, self.transcripts))

    def test_contexts_that_were_assembled(self, subject: Subject) -> None:
        """`contextkit_assembled` does not fail, and does not change the context."""
        _must(subject.name, lambda: listening_checks.check_assembled(subject))

    def test_its_items(self, subject: Subject) -> None:
        """It finds items of its own name with different ids.

        The best come first.
        """
        _must(subject.name, lambda: query_checks.check_items(subject))

    def test_the_same_question_has_the_same_answer(self, subject: Subject) -> None:
        """Order and fields are stable: no clocks, no chance."""
        _must(subject.name, lambda: query_checks.check_order(subject))

    def test_limits_are_kept(self, subject: Subject) -> None:
        """There are never more items than the request's limit."""
        _must(subject.name, lambda: query_checks.check_limits(subject))

    def test_what_a_request_wants_is_found(self, subject: Subject) -> None:
        """Filters by kind, entity type or time keep matching items."""
        _must(subject.name, lambda: filter_checks.check_filters(subject))

    def test_it_answers_in_time(self, subject: Subject) -> None:
        """It answers within `timeout`, without blocking the event loop."""
        _must(subject.name, lambda: query_checks.check_time(subject))

    def test_its_other_hooks_are_quick(self, subject: Subject) -> None:
        """Weight, signals, keys and texts are made quickly."""
        _must(subject.name, lambda: hook_checks.check_promptness(subject))

    def test_a_cancelled_query_leaves_nothing_running(self, subject: Subject) -> None:
        """A cancelled query and its tasks end at once."""
        _must(subject.name, lambda: query_checks.check_cancellation(subject))

    def test_any_query_is_answered(self, subject: Subject) -> None:
        """Any text gets items or none, without a failure.

        The texts include an empty one, other scripts, control characters and a long one.
        """
        _must(subject.name, lambda: query_checks.check_any_query(subject))

    def test_many_queries_at_once(self, subject: Subject) -> None:
        """Each has the answer that it has alone."""
        _must(subject.name, lambda: query_checks.check_concurrency(subject))

    def test_its_texts(self, subject: Subject) -> None:
        """One text per item, style and detail; compact: one line."""
        _must(subject.name, lambda: text_checks.check_formats(subject))

    def test_hostile_text_stays_text(self, subject: Subject) -> None:
        """No record's text becomes markup, in any style and detail."""
        _must(subject.name, lambda: text_checks.check_hostile_text(subject))

    def test_shortened_texts(self, subject: Subject) -> None:
        """`contextkit_truncate` keeps to its tokens, and closes its markup."""
        _must(subject.name, lambda: text_checks.check_truncation(subject))

    def test_what_must_be_kept(self, subject: Subject) -> None:
        """`must_keep` names words that are shown."""
        _must(subject.name, lambda: summary_checks.check_must_keep(subject))

    def test_its_summaries(self, subject: Subject) -> None:
        """`contextkit_compress` keeps to its tokens, and keeps `must_keep` words."""
        _must(subject.name, lambda: summary_checks.check_summaries(subject))

    def test_contexts(self, subject: Subject) -> None:
        """Contexts of every style and detail show it, within budget."""
        _must(subject.name, lambda: text_checks.check_contexts(subject))

    def test_dedup_keys(self, subject: Subject) -> None:
        """Keys are texts, one set per item, from it alone."""
        _must(subject.name, lambda: record_checks.check_dedup_keys(subject))

    def test_a_second_index_run_changes_nothing(self, subject: Subject) -> None:
        """An unchanged workspace is reported as such; its records stay."""
        _must(subject.name, lambda: record_checks.check_index(subject))


def _must(name: str, check: Callable[[], None]) -> None:
    """Run a check; a problem's one line fails the test."""
    __tracebackhide__ = True
    problem = _problem(name, check)
    if problem:
        _fail(problem)


def _problem(name: str, check: Callable[[], None]) -> str:
    try:
        check()
    except NotConformingError as problem:
        return f"{name}: {problem}"
    except ContextKitError as error:
        return str(error)
    return ""


def _fail(line: str) -> None:
    __tracebackhide__ = True
    pytest.fail(" ".join(line.split()), pytrace=False)


def _entry_point_of(source: object) -> str:
    """Find the only installed entry point that names the plugin.

    Returns its name, or "" where there is none.
    """
    if inspect.ismodule(source):
        module, attribute = source.__name__, ""
    else:
        kind = source if inspect.isclass(source) else type(source)
        module, attribute = kind.__module__, kind.__qualname__
    named = [
        found.name
        for found in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
        if found.module == module and (not attribute or found.attr in {"", attribute})
    ]
    return named[0] if len(named) == 1 else ""
