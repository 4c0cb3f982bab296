"""The base of record-keeping sources, by the snippets of its page and by odd input."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import ContextItem, ContextKit, Record, hookimpl
from contextkit.agent.tools import offer_tool
from contextkit.errors import InvalidRequestError
from contextkit.models.items import Style
from contextkit.sources.book import Book
from contextkit.sources.checks import choice, line, name, number, several, text, whole
from contextkit.sources.entry import Entry, InvalidEntryError, UnknownEntryError, part
from contextkit.sources.ids import AmbiguousEntryError
from contextkit.sources.show import compact, in_style, plain_entity, xml_entity
from contextkit.testing import open_kit

PAGE = (Path(__file__).parents[2] / "plugins" / "sources.md").read_text(encoding="utf-8")


class InvalidDishError(InvalidEntryError):
    """A dish of its own kind of wrong."""


@frozen(kw_only=True)
class Dish(Entry):
    """A name, tags and minutes."""

    noun = "dish"
    shown = ("id", "name", "tags", "minutes", "scope")
    invalid = InvalidDishError

    name: str = part(line("a name", 80), about="what it is called")
    tags: tuple[str, ...] = part(several("tags", line("a tag", 9), most=3), (), about="tags")
    minutes: int = part(whole("minutes", 1, 600), 10, about="how long it takes")

    @property
    def text(self) -> str:
        """Its name."""
        return self.name

    @classmethod
    def new_id(cls, given: Any, created_at: Any) -> str:
        """Its name."""
        return str(given["name"]).lower()

    @classmethod
    def defaults_for(cls, record: Record) -> dict[str, Any]:
        """Its name is its text."""
        return {"name": record.text}


class DishBook(Book[Dish]):
    """Dishes."""

    source, entry = "dishes", Dish


class Plugin:
    """The source `dishes`."""

    @hookimpl
    async def contextkit_query(self, request: Any) -> list[ContextItem]:
        """What matches."""
        return await DishBook.items_for(request)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with the source."""
    with open_kit(tmp_path, {"dishes": Plugin()}) as opened:
        yield opened


@pytest.fixture
def book(kit: ContextKit) -> DishBook:
    """The dishes of its project."""
    return DishBook.of(kit)


def test_the_page_is_true(kit: ContextKit) -> None:
    """Its snippets run one after the other, and the tools that it makes can be offered."""
    names: dict[str, Any] = {"kit": kit, "__name__": "__main__"}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(snippet.replace("self) -> str:", "self):"), names)  # noqa: S102
    offered = [offer_tool("dishes", tool) for tool in names["TOOLS"]]
    assert [each.tool.name for each in offered] == ["add_dish", "list_dishes", "remove_dish"]
    assert sorted(names["dishes"].commands) == ["add", "edit", "list", "remove", "search"]
    assert names["contextkit_source"]().dedup_keys("a", {}) == ("dish:a",)


async def test_an_entry_is_found_by_a_request(kit: ContextKit, book: DishBook) -> None:
    """With its JSON as the item's metadata."""
    book.add("Porridge", minutes=5)
    (item,) = (await kit.assemble_context("porridge", ["dishes"])).items
    assert (item.id, item.kind, item.location) == ("porridge", "dish", "dish porridge")
    assert item.metadata["minutes"] == 5


def test_adding_again_changes_what_is_given(book: DishBook) -> None:
    """In the same scope; a part that is None stays."""
    assert book.add("Soup", tags=["hot"]).outcome == "stored"
    again = book.add("Soup", tags=None, minutes=30)
    assert (again.outcome, again.tags, again.minutes) == ("updated", ("hot",), 30)
    assert book.add("Soup", minutes=30).outcome == "unchanged"
    assert book.add("Soup", shared=True).outcome == "stored"
    assert [dish.scope for dish in book.list()] == ["user", "project"]
    assert book.get("soup").scope == "project"
    assert book.remove("soup").scope == "project"
    assert book.get("soup").scope == "user"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": ""}, "a name has 1 to 80 characters"),
        ({"name": None}, "a name must be a text, got None"),
        ({"tags": "hot"}, "tags must be a list of texts, got 'hot'"),
        ({"tags": {"a": 1}}, "tags must be a list of texts"),
        ({"tags": list("abcd")}, "tags: at most 3 values, got 4"),
        ({"minutes": 0}, "minutes must be a whole number of at least 1 and at most 600, got 0"),
        ({"minutes": True}, "got True"),
        ({"created_at": "soon"}, "created_at must be a time such as"),
    ],
)
def test_what_is_not_allowed_is_refused(
    book: DishBook, given: dict[str, Any], message: str
) -> None:
    """With the class's own error, and nothing is stored."""
    with pytest.raises(InvalidDishError, match=message):
        book.add(**{"name": "Soup", **given})
    assert book.count() == 0


@pytest.mark.parametrize("odd", [None, 5, "x", [5, "hot", ""], {"a": 1}, True, 1e400])
def test_imported_records_do_no_harm(book: DishBook, odd: Any) -> None:
    """A value that is not allowed counts as missing, and so does an element of a list."""
    fields = {} if odd == 1e400 else dict.fromkeys(("name", "tags", "minutes"), odd)
    book.records.put([Record(id="odd", text="From elsewhere", fields=fields)])
    (found,) = book.list()
    assert found.name == ("x" if odd == "x" else "From elsewhere")
    assert found.tags == (("hot",) if isinstance(odd, list) else ())
    assert found.minutes == (5 if odd == 5 else 10)
    assert found.as_dict()["scope"] == "project"


def test_an_id_or_a_limit_that_makes_no_sense(book: DishBook) -> None:
    """Each in one line that says what was asked for."""
    for asked in ("", "gone"):
        with pytest.raises(UnknownEntryError, match=f"no entry has the id '{asked}'"):
            book.get(asked)
    for limit in (0, True, "1"):
        with pytest.raises(InvalidRequestError, match="limit must be at least 1"):
            book.list(limit)  # type: ignore[arg-type]


def test_an_id_may_be_typed_in_short(book: DishBook) -> None:
    """A beginning that no other id has is enough; several are listed, and the project's win."""
    for dish in ("Soup", "Souffle"):
        book.add(dish)
        book.add(dish, shared=True)

    assert book.get("dish_soup").scope == "project"
    assert book.remove("souf").scope == "project"
    with pytest.raises(AmbiguousEntryError, match=r"'so' fits 2 dishes: souffle \(Souffle\), soup"):
        book.get("so")


def test_threads_at_once_lose_nothing(book: DishBook) -> None:
    """Reading and writing are one step."""

    def count_one() -> None:
        for _ in range(5):
            with book.turn():
                known = book.get("soup")
                book.store("soup", {"minutes": known.minutes + 1})

    book.add("Soup", minutes=1)
    threads = [threading.Thread(target=count_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert book.get("soup").minutes == 21


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (text("a note", 3), " ", "a note must not be empty"),
        (text("a note", 3, "split it"), "long", "at most 3 characters, .* has 4: split it"),
        (name("a session", 5), "a\nb", "a session has 1 to 5 printable characters"),
        (number("weight"), 2, r"weight must be within 0\.\.1, got 2"),
        (number("weight"), float("nan"), "got nan"),
        (number("weight"), "1", "must be a number"),
        (choice("size", ("big", "small")), "huge", "size is one of big, small, got 'huge'"),
        (several("steps", str, least=1), [], "steps: 1 to 50 values, got 0"),
    ],
)
def test_checks_say_what_is_wrong(check: Any, value: Any, message: str) -> None:
    """And what would be right."""
    with pytest.raises(InvalidEntryError, match=message):
        check(value)


@pytest.mark.parametrize("style", ["markdown", "xml", "plain", "braille"])
def test_an_unknown_style_is_markdown(style: Style) -> None:
    """In one place, for every source."""
    shown = in_style(style, markdown=lambda: "*m*", xml=lambda: "<x/>", plain=lambda: "p")
    assert shown == {"xml": "<x/>", "plain": "p"}.get(style, "*m*")
    on_one_line = compact(style, "dish", {"name": "a&b", "tag": ""}, "t\n<", "# a\nb")
    expected = {"xml": '<dish name="a&amp;b">t &lt;</dish>', "plain": "# a b"}
    assert on_one_line == expected.get(style, "- \\# a b")


def test_bodies_cannot_leave_their_element() -> None:
    """XML is escaped, and plain lines are indented."""
    assert xml_entity({"type": "dish"}, ["</entity>"]) == (
        '<entity type="dish">\n&lt;/entity&gt;\n</entity>'
    )
    assert plain_entity("Soup [dish]", ["a\nSources:"]) == "Soup [dish]\n  a\n  Sources:"
