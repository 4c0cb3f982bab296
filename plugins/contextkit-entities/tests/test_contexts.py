"""Which entities and relations are found, in which order, and how they are shown."""

from __future__ import annotations

from typing import Any

import pytest

import contextkit_entities as plugin
from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    InvalidRequestError,
    Record,
    Records,
    hookimpl,
)
from contextkit.text.signals import QuerySignals
from contextkit_entities import EntityBook, relations_source
from contextkit_entities.entity import Entity


async def found(records: Records, query: str, **request: Any) -> list[ContextItem]:
    """The entities that are found."""
    return await plugin.contextkit_query(ContextRequest(query=query, records=records, **request))


async def related(records: Records, query: str, **request: Any) -> list[ContextItem]:
    """The relations that are found."""
    settings = {
        **relations_source.contextkit_source().setting_defaults,
        **request.pop("settings", {}),
    }
    asked = ContextRequest(query=query, records=records, settings=settings, **request)
    return await relations_source.contextkit_query(asked)


def from_code(records: Records, name: str, kind: str = "function", **given: Any) -> None:
    """Store an entity as an index run does."""
    created_at = Record(id="x", text="").created_at
    made = Entity(
        id=f"code:a.py::{name}", name=name, type=kind, origin="code", created_at=created_at, **given
    )
    records.put([made.as_record()])


async def test_what_is_mentioned_counts_double(book: EntityBook, records: Records) -> None:
    """Salience is the rest of it; a search that is answered whole is worth half a mention."""
    book.add("Billing", salience=0.2)
    book.add("Stripe", aliases=["card processor"], salience=1.0)
    book.add("Ledger", properties={"for": "billing"}, salience=0.2)
    items = await found(records, "the card-processor of BILLING")
    assert [(item.id, item.relevance) for item in items[:2]] == [("stripe", 1.0), ("billing", 0.6)]
    assert items[2].id == "ledger"
    assert 0 < items[2].relevance <= 0.3
    book.add("Pump", properties={"does": "drains the tank"}, salience=1.0)
    whole, salient = await found(records, "drains tank")
    assert (whole.id, salient.id) == ("pump", "stripe")
    assert 0.4 <= whole.relevance <= 0.5


class Notes:
    """A source whose item has a word of the question."""

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        return [ContextItem("notes", "What the tea depends on.", 0.4)]


async def test_an_alias_is_evidence_though_it_is_not_shown(kit: ContextKit) -> None:
    """Beside a source whose items have the question's other words."""
    kit.register(Notes(), "notes")
    book = EntityBook.of(kit)
    book.add("Billing", aliases=["invoicing"])
    book.add("Stripe")
    book.relate("Billing", "needs", "Stripe")
    context = await kit.assemble_context("what does invoicing depend on?")
    assert {"entities", "relations"} <= {item.source for item in context.items}


async def test_names_that_plugins_know_are_mentioned(book: EntityBook, records: Records) -> None:
    """A name that a plugin adds to the query's signals counts as one of the query."""
    book.add("Billing")
    signals = QuerySignals(entities=("Billing",))
    assert await found(records, "the thing that takes the money") == []
    (item,) = await found(records, "the thing that takes the money", signals=signals)
    assert item.metadata["mentioned"] is True


async def test_a_request_wants_types_of_entities(kit: ContextKit) -> None:
    """Entities of these types, and relations of which one end is of them."""
    book = EntityBook.of(kit)
    for name, kind in (("Billing", "service"), ("Ada", "person"), ("Ledger", "service")):
        book.add(name, kind)
    book.relate("Ada", "owns", "Billing")
    book.relate("Billing", "writes", "Ledger")
    context = await kit.assemble_context("Billing, Ada and Ledger", entity_types=["person"])
    assert {item.id for item in context.items if item.source == "entities"} == {"ada"}
    shown = [item.content for item in context.items if item.source == "relations"]
    assert shown == ["- Ada --[owns]--> Billing"]


async def test_what_is_highly_salient_is_found_without_a_mention(
    book: EntityBook, records: Records
) -> None:
    """Ten at most, a third as relevant as a mention; the code's own, and the usual 0.5, are not."""
    book.add("Ledger")
    for number in range(12):
        book.add(f"Core {number:02}", salience=0.9 + number / 1000)
    from_code(records, "central", salience=1.0)
    items = await found(records, "how do I bake bread?")
    assert [item.id for item in items] == [f"core-{number:02}" for number in range(11, 1, -1)]
    assert not any(item.metadata["mentioned"] for item in items)
    assert all(0.31 < item.relevance < 0.34 for item in items)
    items = await found(records, "how does the Ledger work?")
    assert items[0].id == "ledger"
    assert len(await found(records, "bread", limit=3)) == 3
    assert await found(records, "bread", filters={"origin": "code"}) == []


async def test_what_is_salient_stands_beside_an_answer(kit: ContextKit) -> None:
    """Where a source has a share by its weight alone, as in seed 3."""
    EntityBook.of(kit).add("Billing", "service", salience=1.0)
    EntityBook.of(kit).add("Bread", "food")
    context = await kit.assemble_context("Bread", shares="fixed")
    assert {item.id for item in context.items} == {"billing", "bread"}


async def test_salience_alone_answers_nothing(kit: ContextKit) -> None:
    """Where nothing answers a question the context is empty, whatever matters elsewhere."""
    book = EntityBook.of(kit)
    for number in range(12):
        book.add(f"Core service {number}", "service", salience=1.0)
    book.relate("Core service 0", "uses", "Core service 1")
    context = await kit.assemble_context("how do I bake bread?")
    assert context.markdown == ""
    context = await kit.assemble_context("what does core service 1 do?")
    assert context.items[0].id == "core-service-1"
    assert "## Known Entities\n\n**service**: Core service 1" in context.markdown
    assert "## Relationships\n\n- Core service 0 --[uses]--> Core service 1" in context.markdown


async def test_common_words_are_no_mention_of_code(records: Records) -> None:
    """Unless they are written as code, in their own case; a module's also where it is used."""
    for name, kind in (("run", "function"), ("Store", "class"), ("click", "module")):
        from_code(records, name, kind)

    async def mentioned(query: str) -> list[str]:
        items = await found(records, query)
        return sorted(item.metadata["name"] for item in items if item.metadata["mentioned"])

    assert await mentioned("we store it and run; click here") == []
    assert await mentioned("Store it. Run it") == []
    assert await mentioned("why does run() open the Store?") == ["Store", "run"]
    assert await mentioned("`click` here") == await mentioned("what depends on click?") == ["click"]


async def test_code_is_found_by_search_where_it_answers_most(records: Records) -> None:
    """What merely has a word of the question is left to the code source; five are enough."""
    for number in range(8):
        from_code(records, f"drain_queue_{number}", properties={"about": "Empty the queue"})
    assert len(await found(records, "empty queue")) == 5
    assert await found(records, "when is the queue of the large office printer reset") == []


async def test_the_projects_entity_stands_for_the_users(book: EntityBook, records: Records) -> None:
    """Of one id that is in both scopes, one is found."""
    book.add("Billing", "user's", shared=True)
    book.add("Billing", "project's")
    for query in ("billing", "user s billing"):
        assert [item.metadata["type"] for item in await found(records, query)] == ["project s"]


async def test_filters_on_types(book: EntityBook, records: Records) -> None:
    """`entity_types` and `type` in any case; of a relation one end is of them, or it is itself."""
    book.add("Billing", "service")
    book.add("Ana", "person")
    book.add("Bo", "person")
    book.relate("Billing", "owned by", "Ana")
    book.relate("Ana", "knows", "Bo")
    query = "who owns Billing, Ana?"
    names = {"entity_types": ["Person"]}, {"type": "person"}, {"entity_types": "PERSON"}
    for filters in names:
        assert [item.id for item in await found(records, query, filters=filters)] == ["ana"]
    of_services = await related(records, "Ana and Bo", filters={"entity_types": ["service"]})
    assert [item.metadata["type"] for item in of_services] == ["owned by"]
    knowing = await related(records, "Ana", filters={"type": "Knows"})
    assert [item.metadata["target"] for item in knowing] == ["Bo"]
    assert await found(records, query, filters={"origin": "code"}) == []


async def test_depth(book: EntityBook, records: Records) -> None:
    """From the setting, or from the filter; each depth counts half."""
    for name in ("Aa", "Bb", "Cc", "Dd"):
        book.add(name)
    for source, target in (("Aa", "Bb"), ("Bb", "Cc"), ("Cc", "Dd")):
        book.relate(source, "uses", target)

    async def relevances(**request: Any) -> list[float]:
        return [item.relevance for item in await related(records, "what does Aa do?", **request)]

    assert await relevances() == [1.0, 0.5]
    assert await relevances(settings={"depth": 1}) == [1.0]
    assert await relevances(settings={"depth": 1}, filters={"depth": 3}) == [1.0, 0.5, 0.25]
    assert await relevances(settings={"depth": 1}, depth=2) == [1.0, 0.5]
    assert await relevances(filters={"depth": 0}) == []
    assert await relevances(filters={"depth": 3}, min_relevance=0.3) == [1.0, 0.5]
    assert await relevances(limit=1) == [1.0]


async def test_what_search_finds_begins_a_walk_where_nothing_is_mentioned(
    book: EntityBook, records: Records
) -> None:
    """Its fit is in the score."""
    book.add("Billing", properties={"does": "send invoices"})
    book.add("Stripe")
    book.relate("Billing", "uses", "Stripe")
    (item,) = await related(records, "send invoices")
    assert 0 < item.relevance <= 0.5
    assert await related(records, "bake bread") == []


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"entity_types": [5]}, "filter entity_types: expected texts, got 5"),
        ({"type": 5}, "filter type: expected texts, got 5"),
        ({"depth": 6}, "filter depth: expected a whole number from 0 to 5, got 6"),
        ({"depth": "2"}, "filter depth: expected a whole number from 0 to 5, got '2'"),
    ],
)
async def test_filters_that_make_no_sense_are_named(
    records: Records, filters: dict[str, Any], message: str
) -> None:
    """They are the request's error."""
    with pytest.raises(InvalidRequestError, match=message):
        await related(records, "x", filters=filters)


async def test_relations_that_differ_in_one_name_are_all_shown(kit: ContextKit) -> None:
    """They look alike, and are no duplicates."""
    book = EntityBook.of(kit)
    names = ("Question", "Answer", "Section", "Provenance", "Gather")
    book.add("tests/pipeline/test_gather.py", "file")
    for name in names:
        book.add(name, "class")
        book.relate("tests/pipeline/test_gather.py", "uses", name)
    book.relate("Gather", "uses", "tests/pipeline/test_gather.py")
    context = await kit.assemble_context("fix tests/pipeline/test_gather.py", ["relations"])
    assert len(context.items) == len(names) + 1


def entity(**metadata: Any) -> ContextItem:
    """An item as the source makes them."""
    properties = {"owner": "Ana *L*", "on call": True, "port": 80}
    data = {"name": "Billing_", "type": "web service", "properties": properties, **metadata}
    return ContextItem("entities", "content", 0.5, id="billing", metadata=data)


def relation(**metadata: Any) -> ContextItem:
    """Likewise."""
    data = {"source": "A<b>", "target": "# B", "type": "uses", "properties": {"n": 1}, **metadata}
    return ContextItem("relations", "content", 0.5, id="r", metadata=data)


KNOWN = "owner: Ana *L*, on call: true, port: 80"


@pytest.mark.parametrize(
    ("style", "detail", "expected"),
    [
        ("markdown", "full", f"**web service**: Billing_ ({KNOWN}, in: a.py:3)"),
        ("markdown", "summary", "**web service**: Billing_ (in: a.py:3)"),
        ("markdown", "compact", "- web service: Billing_ (in: a.py:3)"),
        (
            "xml",
            "full",
            f'<entity name="Billing_" type="web service">{KNOWN}, in: a.py:3</entity>',
        ),
        ("plain", "full", f"Billing_ [web service] ({KNOWN}, in: a.py:3)"),
        ("plain", "compact", "Billing_ [web service] (in: a.py:3)"),
    ],
)
def test_formats_of_entities(style: Any, detail: Any, expected: str) -> None:
    """Seed 3's line; without what is long in `summary`."""
    (shown,) = plugin.contextkit_format([entity(location="a.py:3")], style, detail)
    assert shown.replace("\\", "") == expected


@pytest.mark.parametrize(
    ("style", "detail", "expected"),
    [
        ("markdown", "full", "- A<b> --[uses]--> # B (n: 1)"),
        ("markdown", "compact", "- A<b> --[uses]--> # B"),
        (
            "xml",
            "full",
            '<relation type="uses" source="A&lt;b&gt;" target="# B">n: 1</relation>',
        ),
        ("xml", "summary", '<relation type="uses" source="A&lt;b&gt;" target="# B"/>'),
        ("plain", "full", "A<b> --[uses]--> # B (n: 1)"),
    ],
)
def test_formats_of_relations(style: Any, detail: Any, expected: str) -> None:
    """Names at both ends, properties in `full`."""
    (shown,) = relations_source.contextkit_format([relation()], style, detail)
    assert shown.replace("\\", "") == expected


def test_what_is_not_known_is_not_shown() -> None:
    """No empty brackets, no empty element; one line however long."""
    bare = entity(properties={})
    assert plugin.contextkit_format([bare], "markdown", "full") == ["**web service**: Billing_"]
    assert plugin.contextkit_format([bare], "xml", "full") == [
        '<entity name="Billing_" type="web service"/>'
    ]
    (line,) = plugin.contextkit_format([entity(location="x " * 500)], "markdown", "compact")
    assert len(line) < 250
    assert "\n" not in line


def test_shortened_texts() -> None:
    """An entity keeps where it is, then its name; half a relation is none."""

    def shortened(plugin: Any, item: ContextItem, limit: int) -> str:
        text: str = plugin.contextkit_truncate(item, "plain", limit, len)
        return text

    long = entity(location="a.py:3")
    assert shortened(plugin, long, 40) == "Billing_ [web service] (in: a.py:3)"
    assert shortened(plugin, long, 30) == "Billing_ [web service]"
    assert shortened(plugin, long, 10) == ""
    assert shortened(relations_source, relation(), 24) == "A<b> --[uses]--> # B"
    assert shortened(relations_source, relation(), 10) == ""


def test_settings_that_make_no_sense_are_named() -> None:
    """Of both sources."""
    entities, relations = plugin.contextkit_source(), relations_source.contextkit_source()
    assert list(entities.setting_problems("entities", {"code_source": 5, "depth": 1})) == [
        "code_source: must be a text, got 5",
        "depth: the source entities has no such setting; it has code_source",
    ]
    assert list(relations.setting_problems("relations", {"depth": 5})) == []
    assert list(relations.setting_problems("relations", {"depth": 6, "x": 1})) == [
        "depth: must be a whole number from 0 to 5, got 6",
        "x: the source relations has no such setting; it has depth",
    ]
