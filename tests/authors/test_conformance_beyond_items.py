"""Each mistake of a source in filters, summaries, commands and listeners is found."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import click
import pytest

from contextkit import ContextItem, HealthFinding, IndexReport, Record, SourceInfo
from contextkit.cli.lazy import LazyCommand
from contextkit.testing import (
    filter_checks,
    hook_checks,
    listening_checks,
    query_checks,
    summary_checks,
)
from contextkit.testing.subject import NotConformingError, Subject
from tests.authors.sources import answering, item, plugin

SubjectOf = Callable[..., Subject]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIDE = item(content="high tide at noon")


# -- what plugins score, report and observe ---------------------------------------------------


def check_all(subject: Subject) -> None:
    """Everything that is checked here."""
    hook_checks.check_rerank(subject)
    hook_checks.check_health(subject)
    listening_checks.check_assembled(subject)


def test_scores_findings_and_observers_that_are_right(subject_of: SubjectOf) -> None:
    """Nothing is found wrong."""
    check_all(
        subject_of(
            answering(
                TIDE,
                contextkit_rerank=lambda request, items: [0.5 for _ in items],
                contextkit_health=lambda kit: [HealthFinding("warning", "slow", "wait")],
                contextkit_assembled=lambda context: None,
            )
        )
    )


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (
            {"contextkit_rerank": lambda request, items: [random.random() for _ in items]},
            "contextkit_rerank gives other scores the second time",
        ),
        (
            {"contextkit_health": lambda kit: [HealthFinding("problem", "it is down")]},
            "'it is down' has no remedy: say what to do",
        ),
        (
            {"contextkit_health": lambda kit: [HealthFinding("ok", "it\nworks")]},
            r"'it\\nworks' has several lines",
        ),
        (
            {"contextkit_assembled": lambda context: context.items[0].title.upper()},
            "contextkit_assembled fails for a context of 1 items: AttributeError",
        ),
        (
            {"contextkit_assembled": lambda context: context.items.clear()},
            "contextkit_assembled changes the context",
        ),
    ],
)
def test_wrong_scores_findings_and_observers(
    subject_of: SubjectOf, hooks: dict[str, Any], message: str
) -> None:
    """What is wrong is said with the hook's name."""
    with pytest.raises(NotConformingError, match=message):
        check_all(subject_of(answering(TIDE, **hooks)))


# -- filters ---------------------------------------------------------------------------------


def stored(**info: Any) -> ModuleType:
    """A source of one record, whose items are of a kind, a type and a time; as `info` says."""

    async def contextkit_query(request: Any) -> list[ContextItem]:
        hits = await request.records.search(
            request.query, limit=request.limit, filters=request.filters
        )
        return [
            item(
                hit.record.id,
                content=hit.record.text,
                kind="high",
                created_at=NOON,
                metadata={"type": "harbour"},
            )
            for hit in hits
        ]

    return plugin(contextkit_query=contextkit_query, contextkit_source=lambda: SourceInfo(**info))


def put(subject: Subject) -> Subject:
    """Store its record, which is of the day before its item."""
    record = Record(
        id="a",
        text="high tide in the harbour",
        fields={"level": "high", "type": "harbour"},
        created_at=NOON - timedelta(days=1),
    )
    subject.kit.records("tide").put([record])
    return subject


@pytest.mark.parametrize(
    "info", [{}, {"kind_field": "level"}, {"entity_type_field": "type"}], ids=str
)
def test_filters_that_are_met_are_fine(subject_of: SubjectOf, info: dict[str, Any]) -> None:
    """Whether the store looks at them or nobody does."""
    filter_checks.check_filters(put(subject_of(stored(**info))))


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"kind_field": "kind"}, r"kinds = \['high'\], which it meets: is SourceInfo.kind_field"),
        ({"entity_type_field": "kinds"}, "'kinds', which no item has in its metadata"),
        ({"dated": True}, r"since = 2026-03-01T12.*is SourceInfo.dated = True true of its"),
    ],
)
def test_what_a_source_says_of_its_fields_must_be_so(
    subject_of: SubjectOf, info: dict[str, Any], message: str
) -> None:
    """A request for its own kind, type or time would find nothing."""
    with pytest.raises(NotConformingError, match=message):
        filter_checks.check_filters(put(subject_of(stored(**info))))


def test_a_source_that_filters_too_much_by_itself_is_found(subject_of: SubjectOf) -> None:
    """An HTTP service that knows other names for kinds, say."""

    def contextkit_query(request: Any) -> list[ContextItem]:
        return [] if request.kinds else [item(kind="high")]

    source = plugin(contextkit_query=contextkit_query)
    with pytest.raises(NotConformingError, match="is narrower than what its items say"):
        filter_checks.check_filters(subject_of(source))


@pytest.mark.parametrize("keeping", [{"keep_days": 30}, {"keep_records": 10}], ids=str)
def test_retention_of_an_index_is_found(subject_of: SubjectOf, keeping: dict[str, Any]) -> None:
    """It would be believed, and nothing would go; where nothing indexes the records it is fine."""

    def contextkit_source() -> SourceInfo:
        return SourceInfo(**keeping)

    hook_checks.check_info(subject_of(answering(TIDE, contextkit_source=contextkit_source)))
    source = answering(
        TIDE,
        contextkit_source=contextkit_source,
        contextkit_index=lambda indexer: IndexReport(),
    )
    with pytest.raises(NotConformingError, match="which have no effect where there is a"):
        hook_checks.check_info(subject_of(source))


# -- items and their order ----------------------------------------------------------------


def test_metadata_that_change_when_asked_again_are_found(subject_of: SubjectOf) -> None:
    """They are those of an item that somebody has already, too."""
    shared = {"seen": {"times": [0]}}

    def contextkit_query(request: Any) -> list[ContextItem]:
        shared["seen"]["times"][0] += 1
        return [item(metadata=shared)]

    with pytest.raises(NotConformingError, match="item 'a' with other fields"):
        query_checks.check_order(subject_of(plugin(contextkit_query=contextkit_query)))


@pytest.mark.parametrize("field", ["source_timeout", "tokens", "weights", "overflow", "sources"])
def test_an_answer_in_a_cache_may_not_depend_on_how_it_is_shown(
    subject_of: SubjectOf, field: str
) -> None:
    """Whoever asks with another time limit or counter gets what was kept."""

    def contextkit_query(request: Any) -> list[ContextItem]:
        return [item(content=f"tide {getattr(request, field)}")]

    cacheable = plugin(
        contextkit_query=contextkit_query,
        contextkit_source=lambda: SourceInfo(cacheable=True),
    )
    message = "another budget, style or time limit, .* make items from the request alone"
    with pytest.raises(NotConformingError, match=message):
        query_checks.check_order(subject_of(cacheable))


# -- summaries -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["", "zebra"])
def test_what_must_be_kept_is_there(subject_of: SubjectOf, words: str) -> None:
    """Nothing keeps what is not shown."""
    with pytest.raises(NotConformingError, match="stands in its text, so that no summary keeps"):
        summary_checks.check_must_keep(
            subject_of(answering(item(content="high tide at noon", must_keep=(words,))))
        )


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (lambda items: ["one for all"], "returned 1 results for 2 items"),
        (lambda items: "text", "expected a sequence"),
        (lambda items: [each.content * 3 for each in items], "tokens where .* are asked for"),
        (lambda items: [" " for _ in items], "'a' is empty, and is not used"),
        (lambda items: ["x" for _ in items], "lacks 'noon', which it must keep"),
        (lambda items: 1 // 0, "failed in contextkit_compress: ZeroDivisionError"),
    ],
)
def test_a_summary_that_would_not_be_used_is_found(
    subject_of: SubjectOf, summary: Callable[[Sequence[ContextItem]], Any], message: str
) -> None:
    """It would cost a call to a model, and give nothing."""
    long = "high tide at noon " * 9

    def contextkit_compress(items: Sequence[ContextItem]) -> Any:
        return summary(items)

    source = answering(
        item("a", content=long, must_keep=("noon",)),
        item("b", content=long),
        contextkit_compress=contextkit_compress,
    )
    with pytest.raises(Exception, match=message):
        summary_checks.check_summaries(subject_of(source))


def test_summaries_that_fit_are_fine(subject_of: SubjectOf) -> None:
    """None where nothing can be said in so few tokens, or at all."""
    long = "high tide at noon " * 9

    def contextkit_compress(items: Sequence[ContextItem], targets: Sequence[int]) -> Any:
        return [None if target < 30 else "noon" for target in targets] if items[1:] else None

    source = answering(
        item("a", content=long, must_keep=("noon",)),
        item("b", content=long),
        contextkit_compress=contextkit_compress,
    )
    summary_checks.check_summaries(subject_of(source))


# -- commands and events ---------------------------------------------------------------------


SILENT = click.Command("silent")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            click.Command("assemble", help="x"),
            "the command 'assemble' of .* contextkit already has one",
        ),
        (SILENT, "the command 'silent' has no help text"),
        (LazyCommand("tide", "no_such_module:tide", "x"), "'tide' cannot be imported from no_such"),
        (LazyCommand("tide", "click:no_such", "x"), "'tide' cannot be imported from click:no_such"),
    ],
)
def test_a_command_that_cannot_be_used_is_found(
    subject_of: SubjectOf, command: click.Command, message: str
) -> None:
    """Its name, what is said of it, and where it comes from."""

    def contextkit_commands(cli: Any) -> None:
        cli.add_command(command)

    source = answering(TIDE, contextkit_commands=contextkit_commands)
    with pytest.raises(NotConformingError, match=message):
        listening_checks.check_commands(subject_of(source))


def test_commands_in_order_are_fine(subject_of: SubjectOf) -> None:
    """Imported at once or when they are run."""

    def contextkit_commands(cli: Any) -> None:
        cli.add_command(click.Command("ebb", help="Say when the water goes."))
        cli.add_command(LazyCommand("tide", f"{__name__}:SILENT", "Say when it comes."))

    listening_checks.check_commands(
        subject_of(answering(TIDE, contextkit_commands=contextkit_commands))
    )


def _takes_for_granted(event: Any) -> None:
    assert event["prompt"]


def _takes_for_an_object(event: Any) -> None:
    event.get("tool_input", {}).get("command")


def _changes(event: Any) -> None:
    event["prompt"] = ""


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_takes_for_granted, "fails for .*SessionStart.*: KeyError: 'prompt'"),
        (_takes_for_an_object, "fails for .*a_tool_of_tomorrow.*AttributeError"),
        (_changes, "changes the event"),
    ],
)
def test_a_listener_that_does_not_take_any_event_is_found(
    subject_of: SubjectOf, function: Callable[..., Any], message: str
) -> None:
    """Nobody would see it fail but who reads the hooks' log."""
    source = answering(TIDE, contextkit_agent_event=function)
    with pytest.raises(NotConformingError, match=message):
        listening_checks.check_agent_events(subject_of(source))


def test_a_listener_that_takes_any_event_is_fine(subject_of: SubjectOf) -> None:
    """It heard of every one."""
    heard: list[str] = []

    def contextkit_agent_event(event: Any) -> None:
        heard.append(event["hook_event_name"])

    source = answering(TIDE, contextkit_agent_event=contextkit_agent_event)
    listening_checks.check_agent_events(subject_of(source))
    assert {"SessionStart", "UserPromptSubmit", "PostToolUse"} < set(heard)
