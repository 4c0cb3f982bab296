"""What a parser must find in a context, and nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import groupby, pairwise

from markdown_it import MarkdownIt

from contextkit import (
    ContextItem,
    FormattedContext,
)
from tests.pipeline.worlds import (
    SHOWN,
    Options,
)

MARKDOWN = MarkdownIt("commonmark").enable("table")


GROUP = {
    "function": "Relevant Code",
    "document": "Related Documentation",
    "message": "Previous Conversations",
    "memory": "Other Context",
    "": "Other Context",
}


HEADINGS = [*("first", "second", "Ant", "Bee", "Cat", "Eel", "Dog"), *dict.fromkeys(GROUP.values())]
"""In the order in which they stand."""


Sections = list[tuple[str, list[ContextItem]]]


ADDITIONAL = "Additional Context"


def sections_of(context: FormattedContext, asked: Options) -> Sections:
    """The headings that there should be, and the items below each."""
    sections = {(e.source, e.id): e.section for e in context.trace.items if e.verdict in SHOWN}

    def title(item: ContextItem) -> str:
        if asked["group_by"] == "type":
            return GROUP[item.kind]
        section = sections[item.source, item.id]
        return section if section in {"first", "second"} else section.capitalize()

    sections_found = [(heading, list(own)) for heading, own in groupby(context.items, title)]
    assert sections_found == sorted(sections_found, key=lambda found: HEADINGS.index(found[0]))
    return [*sections_found, *([(ADDITIONAL, [])] if context.additional else ())]


def check_layout(context: FormattedContext, asked: Options) -> None:
    """A parser finds the headings and blocks that are ours, and no others."""
    text = context.markdown
    if not text:
        assert not context.items
        return
    if asked["guard"]:
        text = unguarded(text)
    listed = asked["include_sources"] and not any("the list of" in n for n in context.trace.notes)
    check = {"markdown": check_markdown, "xml": check_xml, "plain": check_plain}[asked["style"]]
    check(text, sections_of(context, asked), asked, min(10, len(context.items)) if listed else 0)


def unguarded(text: str) -> str:
    """What stands between the delimiters, which occur nowhere else."""
    found = re.fullmatch(r"<(reference-[0-9a-f]{12})>\n.*?\n\n(.*)\n</\1>", text, re.DOTALL)
    assert found is not None
    assert found[1] not in found[2]
    return found[2]


def check_markdown(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Title, headings, items; a rule above the list of sources."""
    tokens = MARKDOWN.parse(text)
    headings = [
        (opening.tag, inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    title = "Twice" if asked["recipe"] == "twice" else "Context"
    assert headings == [("h1", title), *(("h2", heading) for heading, _ in sections)]
    top = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    top = [kind for kind in top if kind != "inline"]
    rule = top.index("hr") if listed else len(top)
    assert top[rule + 1 :] == (["paragraph_open", "bullet_list_open"] if listed else [])
    items = [item for _, own in sections for item in own]
    of_items = Counter(kind for kind in top[:rule] if kind != "heading_open")
    if asked["detail"] == "compact":
        assert of_items == {"bullet_list_open": len(sections)}
        bullets = [t for t in tokens if t.type == "list_item_open" and t.level == 1]
        assert len(bullets) == len(items) + listed + (sections[-1][0] == ADDITIONAL)
    elif not any(item.source == "cat" for item in items):
        assert of_items.keys() <= OF_TEXT
        assert of_items["fence"] == sum(item.source == "dog" for item in items)


OF_TEXT = {"paragraph_open", "bullet_list_open", "ordered_list_open", "code_block", "fence"}
"""The blocks that items make which have no tables, quotes or HTML of their own."""


def check_xml(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Sections of elements, the list of sources."""
    root = ET.fromstring(text)  # noqa: S314 - our own text
    found = root.findall("section")
    assert [section.get("name") for section in found] == [heading for heading, _ in sections]
    for section, (_, own) in zip(found, sections, strict=True):
        elements = [child.tag for child in section if child.tag not in {"also-in", "superseded-by"}]
        as_is = "entity" if asked["detail"] == "compact" else "document"
        assert elements == [as_is if item.source == "cat" else "entity" for item in own]
    assert len(root.findall("sources/source")) == listed
    assert [child.tag for child in root][-1] == ("sources" if listed else "section")


def check_plain(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Headings stand where nothing else that looks like them does."""
    title = "Twice" if asked["recipe"] == "twice" else "Context"
    found = re.findall(r"^(?:===|---) (.*) (?:===|---)$", text, re.MULTILINE)
    assert found == [title, *(heading for heading, _ in sections)]
    assert len(re.findall("^  - ", text.rpartition("\nSources:\n")[2], re.MULTILINE)) == listed
