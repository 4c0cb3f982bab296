"""How a plugin's hooks are called, and what is made of what they return or raise."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit.errors import ConfigError, SourceError, StoreBusyError
from tests.making import make_plugin, make_registry

REQUEST = ContextRequest(query="when is high water?")


def test_a_call_reaches_one_source() -> None:
    """Never another's hook, whichever was registered last, and `None` without a hook."""
    registry = make_registry(
        {
            "a": make_plugin([], contextkit_weight=lambda request: 2.0),
            "b": make_plugin([], contextkit_weight=lambda request: 3.0),
            "silent": make_plugin([]),
            "z": make_plugin([], contextkit_weight=lambda request: 4.0),
        }
    )
    weights = {
        name: registry.call(name, "contextkit_weight", request=REQUEST) for name in registry.sources
    }
    assert weights == {"a": 2.0, "b": 3.0, "silent": None, "z": 4.0}


def test_a_plugin_that_is_no_source_answers_for_no_source() -> None:
    """What a helper says of itself is not taken for what a source says."""
    helper = make_plugin(
        contextkit_source=SourceInfo(title="Helper"),
        contextkit_weight=lambda request: 9.0,
        contextkit_index=lambda indexer: None,
    )
    registry = make_registry({"a": make_plugin([]), "helper": helper, "z": make_plugin([])})
    assert registry.info("z").title == "Z"
    assert [registry.weight(name, REQUEST) for name in ("a", "z")] == [1.0, 1.0]
    assert registry.info("helper").title == "Helper"
    assert not registry.implements("a", "contextkit_index")


@pytest.mark.parametrize("old_style", [True, False])
def test_a_plugin_that_is_no_source_wraps_every_sources_hooks(old_style: bool) -> None:
    """A redaction sees each source's texts and changes them, until it is switched off."""
    seen = []

    def old(items: list[ContextItem], style: str) -> Any:
        outcome = yield
        seen.append(items[0].source)
        outcome.force_result([text.replace("secret", "*") for text in outcome.get_result()])

    def new(items: list[ContextItem], style: str) -> Any:
        texts = yield
        seen.append(items[0].source)
        return [text.replace("secret", "*") for text in texts]

    wrapper = hookimpl(hookwrapper=True)(old) if old_style else hookimpl(wrapper=True)(new)

    def shown(items: list[ContextItem], style: str) -> list[str]:
        return [f"{item.source} secret" for item in items]

    sources = {name: make_plugin([], contextkit_format=shown) for name in ("a", "b")}
    registry = make_registry({**sources, "redaction": make_plugin(contextkit_format=wrapper)})

    def texts(name: str) -> Any:
        items = [ContextItem(name, "x", 0.5)]
        return registry.call(name, "contextkit_format", items=items, style="plain", detail="full")

    assert [texts(name) for name in ("a", "b")] == [["a *"], ["b *"]]
    assert seen == ["a", "b"]
    registry.disable("redaction")
    assert texts("a") == ["a secret"]
    registry.enable("redaction")
    assert texts("a") == ["a *"]


def test_a_source_that_wraps_is_kept_out_of_the_others_calls() -> None:
    """A source has no say in another's results."""

    @hookimpl(wrapper=True)
    def contextkit_weight(request: ContextRequest) -> Any:
        yield
        return 99.0

    registry = make_registry(
        {
            "greedy": make_plugin([], contextkit_weight=contextkit_weight),
            "tide": make_plugin([], contextkit_weight=lambda request: 2.0),
        }
    )
    assert registry.weight("tide", REQUEST) == 2.0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("low\n water"), "ValueError: low water"),
        (ValueError(), "ValueError"),
        (SystemExit(2), "SystemExit: 2"),
        (ConfigError("no harbour", key="x"), "x: no harbour"),
    ],
)
def test_what_a_hook_raises_names_source_and_hook(error: BaseException, reason: str) -> None:
    """Whatever it is, it becomes a `SourceError` from that cause."""

    def contextkit_weight(request: ContextRequest) -> float:
        raise error

    registry = make_registry({"tide": make_plugin([], contextkit_weight=contextkit_weight)})
    with pytest.raises(SourceError) as caught:
        registry.call("tide", "contextkit_weight", request=REQUEST)
    assert str(caught.value) == f"source 'tide' failed in contextkit_weight: {reason}"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [StoreBusyError("held"), SourceError("x", "y", "z")])
def test_errors_that_say_enough_are_passed_on(error: Exception) -> None:
    """The store's trouble is the store's."""

    def contextkit_index(indexer: Any) -> None:
        raise error

    registry = make_registry({"tide": make_plugin([], contextkit_index=contextkit_index)})
    with pytest.raises(type(error)) as caught:
        registry.call("tide", "contextkit_index", indexer=None)
    assert caught.value is error


def test_only_the_query_may_be_async() -> None:
    """An `async def` elsewhere is an error that says so."""

    async def contextkit_format(items: list[ContextItem], style: str) -> list[str]:
        return ["x"]

    registry = make_registry({"tide": make_plugin([], contextkit_format=contextkit_format)})
    with pytest.raises(SourceError, match="only contextkit_query may be async"):
        registry.call("tide", "contextkit_format", items=[], style="xml", detail="full")


def test_an_attempt_that_fails_gives_nothing_and_says_why() -> None:
    """A hook with a default costs the default; the failure is logged, or told to the caller."""
    registry = make_registry({"tide": make_plugin([], contextkit_index=lambda indexer: 1 / 0)})
    told: list[tuple[str, str, str]] = []

    def attempt(**options: Any) -> Any:
        return registry.attempt("tide", "contextkit_index", str, **options, indexer=None)

    with capture_logs() as logs:
        assert attempt() is None
    assert [(e["event"], e["source"], e["hook"]) for e in logs] == [
        ("hook_failed", "tide", "contextkit_index")
    ]
    assert attempt(failed=lambda *failure: told.append(failure)) is None
    assert told == [("tide", "contextkit_index", "ZeroDivisionError: division by zero")]


def test_an_interrupt_in_a_hook_is_passed_on() -> None:
    """Control-C is for the program."""

    def contextkit_index(indexer: Any) -> None:
        raise KeyboardInterrupt

    registry = make_registry({"tide": make_plugin([], contextkit_index=contextkit_index)})
    with pytest.raises(KeyboardInterrupt):
        registry.call("tide", "contextkit_index", indexer=None)
