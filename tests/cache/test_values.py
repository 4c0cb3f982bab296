"""A value comes back from a cache exactly as it was, or it is not kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from attrs import asdict, fields
from hypothesis import given, strategies as st

from contextkit import ContextItem, Provenance
from contextkit.cache.codec import (
    NotExactError,
    read_context,
    read_items,
    write_context,
    write_items,
)
from contextkit.cache.keys import NoKeyError, key_of
from contextkit.models.context import FormattedContext
from contextkit.models.items import Successor
from contextkit.models.record import Range
from contextkit.models.request import Section
from contextkit.models.trace import CacheTrace, ItemTrace, ItemTraces, SourceTrace, Trace

AT = datetime(2026, 11, 22, 10, 0, 0, 123456, tzinfo=UTC)
FAR = datetime(2026, 11, 22, 10, tzinfo=timezone(timedelta(hours=5, minutes=30)))

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
TEXTS = st.text() | st.just("\ud800 half a pair") | st.just("\0tuple")
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.just(AT),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text().filter(lambda key: key[:1] != "\0"), inner, max_size=3)
    ),
    max_leaves=8,
)
ITEMS = st.builds(
    ContextItem,
    source=TEXTS,
    content=TEXTS,
    relevance=st.floats(0, 1),
    metadata=st.dictionaries(st.text().filter(lambda key: key[:1] != "\0"), PLAIN, max_size=3),
    id=TEXTS,
    title=st.none() | TEXTS,
    created_at=st.none() | st.just(AT) | st.just(FAR),
    salience=st.none() | st.floats(0, 1),
    also_in=st.lists(st.builds(Provenance, TEXTS, TEXTS, st.none() | TEXTS)).map(tuple),
    superseded_by=st.none() | st.builds(Successor, TEXTS, st.just(AT)),
)


def context() -> FormattedContext:
    """One in which every field of every part has a value of its own."""
    provenance = Provenance("commits", "1", "sha")
    item = ContextItem(
        "code",
        "x = 1",
        0.25,
        {"file_path": "a.py", "lines": (1, 2), "at": FAR, "more": {"empty": []}},
        id="a",
        kind="function",
        title="x",
        text="x",
        created_at=AT,
        salience=0.5,
        location="a.py:1",
        sequence="a.py",
        position=3,
        also_in=(provenance,),
        superseded_by=Successor("b", AT, "b.py:1"),
    )
    row = ItemTrace(
        id="a",
        source="code",
        section="first",
        title="x",
        scores={"relevance": 0.25, "score": 0.1 + 0.2},
        verdict="truncated",
        reason="shortened",
        tokens=3,
        whole_tokens=9,
        location="a.py:1",
        duplicate_of=provenance,
        also_in=(provenance,),
        superseded_by=Successor("b"),
    )
    source = SourceTrace(
        section="first",
        source="code",
        state="ok",
        milliseconds=1.25,
        candidates=3,
        share=2,
        used=1,
        given=4,
        taken=5,
        fixed_share=6,
        breaker="half_open",
        reason="so",
        age=1.5,
    )
    trace = Trace(
        recipe="context",
        counter="default",
        max_tokens=7,
        stages={"gather": 0.125},
        sources=(source,),
        items=ItemTraces(lambda: (row,)),
        notes=("so it is",),
        cache=CacheTrace(state="hit", age=2.5, hit_ratio=0.5, reason="none"),
    )
    return FormattedContext("# x\n\ud83d", [item], 5, {"code": 1}, True, ["a"], trace=trace)


def test_a_context_comes_back_as_it_was() -> None:
    """Every field of it, of its items and of its trace, in its type."""
    before = context()
    found = read_context(write_context(before))
    assert found is not None
    assert found.seconds >= 0
    after = found.value
    assert after == before
    assert asdict(after, recurse=False)["markdown"] == before.markdown
    assert [asdict(item) for item in after.items] == [asdict(item) for item in before.items]
    assert after.trace == before.trace
    assert after.as_dict() == before.as_dict()
    for field in fields(type(before)):
        assert type(getattr(after, field.name)) is type(getattr(before, field.name))


@given(st.lists(ITEMS, max_size=3))
def test_items_come_back_as_they_were(items: list[ContextItem]) -> None:
    """Whatever a source puts into their texts and their metadata that is data."""
    found = read_items(write_items(items))
    assert found is not None
    assert list(map(repr, found.value)) == list(map(repr, items))


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1: "a number is no key of JSON"},
        {"\0tuple": []},
        {1, 2},
        b"bytes",
        float("nan"),
        float("inf"),
        Range(gte=1),
        type("Text", (str,), {})("x"),
        CIRCLE,
    ],
)
def test_what_would_change_is_refused(value: Any) -> None:
    """Not kept rather than changed."""
    with pytest.raises(NotExactError):
        write_items([ContextItem("a", "b", 0.5, {"odd": value})])


# -- keys -----------------------------------------------------------------------------------

DIFFERENT = [
    None,
    True,
    1,
    1.5,
    "1",
    "true",
    "",
    [],
    {},
    [1],
    [[1]],
    {"a": 1},
    {"a": "1"},
    {"a": 1, "b": 2},
    {1, 2},
    AT,
    Range(gte=1),
    Range(gt=1),
    Section(source="a"),
    Section(source="b"),
]


def test_different_values_have_different_keys() -> None:
    """Also where they look alike."""
    assert len({key_of(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_equal_values_have_one_key() -> None:
    """Whatever order they were made in."""
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": (2,), "a": 1})
    assert key_of({1: "a", "b": 2}) == key_of({"b": 2, 1: "a"})
    assert key_of({"x", "y", "z"}) == key_of(frozenset({"z", "y", "x"}))


@pytest.mark.parametrize("value", [object(), [print], b"x"])
def test_odd_values_have_none(value: object) -> None:
    """They cannot be told from others."""
    with pytest.raises(NoKeyError, match="has no key"):
        key_of(value)
