"""The page's data, as JSON values.

The report and the served page share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from contextkit.models import SourceState, Verdict

_ABSENT: Mapping[SourceState, str] = {
    "ok": "Left out",
    "below_floor": "Nothing relevant enough",
    "empty": "Found nothing",
}


@frozen(kw_only=True)
class Link:
    """A link to another item on the page.

    Attributes:
        source, id: the item's.
        label: its location where it has one, else its id.
        hue: the number of its source's colour.
        anchor: its row's anchor, or None where the trace has no such row.
        in_text: whether it is in the text.
    """

    source: str
    id: str
    label: str
    hue: int
    anchor: str | None
    in_text: bool


@frozen(kw_only=True)
class ItemView:
    """One candidate.

    Attributes:
        anchor: its row's anchor on the page.
        rank: its rank among all candidates, the best being 1.
        source, section, id, title, location, verdict, reason: as the trace has them.
        kind: its kind (`function`, `memory`), or "" if it is not in the text.
        hue: the number of its source's colour.
        tokens: tokens it takes in the text, 0 when it is not in it.
        whole_tokens: tokens it would take whole; 0 if that is not known.
        score: the score that it was ranked by, 0..1.
        components: the parts of the score, name -> 0..1.
        content: its content as the text shows it, or None if it is not in the text.
        duplicate_of: the item that it repeats, or None.
        also_in: the duplicates of it that were dropped.
        superseded_by: the newer item that contradicts it, or None.
    """

    anchor: str
    rank: int
    source: str
    section: str
    id: str
    title: str
    kind: str
    location: str | None
    hue: int
    verdict: Verdict
    reason: str
    tokens: int
    whole_tokens: int
    score: float
    components: dict[str, float]
    content: str | None
    duplicate_of: Link | None
    also_in: tuple[Link, ...]
    superseded_by: Link | None


@frozen(kw_only=True)
class SourceView:
    """A section of the recipe.

    The tokens and states are those of the trace.

    Attributes:
        hue: the number of its source's colour.
        words: the state as text.
        shown: items of it in the text.
    """

    section: str
    source: str
    hue: int
    state: SourceState
    words: str
    reason: str | None
    milliseconds: float
    candidates: int
    shown: int
    share: int
    fixed_share: int | None
    used: int
    given: int
    taken: int

    @property
    def absent(self) -> str:
        """Why the table has no row for it; empty if it has one."""
        if self.state == "empty" or (self.state in _ABSENT and not self.share and not self.used):
            return _ABSENT[self.state]
        return ""


@frozen(kw_only=True)
class Group:
    """Candidates left out for one reason.

    Attributes:
        verdict: the reason.
        title: the reason as a heading.
        words: an explanation of the reason.
        items: best first.
    """

    verdict: Verdict
    title: str
    words: str
    items: tuple[ItemView, ...]


@frozen(kw_only=True)
class Bar:
    """One stage or one source on the timeline.

    Attributes:
        label: the stage's or the section's name.
        kind: which of the two it is.
        start: milliseconds after the first stage began.
        milliseconds: how long it took.
        hue: the number of the source's colour; None for a stage.
    """

    label: str
    kind: Literal["stage", "source"]
    start: float
    milliseconds: float
    hue: int | None = None


@frozen(kw_only=True)
class TextPart:
    """A part of the text.

    All parts in a row make up the text.

    Attributes:
        text: the part.
        anchor: the row of the item that it shows, or None for headings and the footer.
        hue: the number of that item's source's colour, or None.
    """

    text: str
    anchor: str | None = None
    hue: int | None = None


@frozen(kw_only=True)
class ContextView:
    """A context and its trace.

    Attributes:
        query: the query.
        style, detail, shares: the requested form of the text.
        max_tokens: the budget.
        token_count: tokens of the text.
        frame: tokens outside all sections: the title and the footer.
        free: unused tokens of the budget.
        exceeded: whether the text is over the budget.
        counter: the name of the token counter.
        milliseconds: the duration of all stages together.
        candidates: the number of items to choose from.
        sources: one for each section, in the order of the text.
        items: the items in the text, in its order.
        left_out: the items that are not, by reason; no empty groups.
        timeline: the stages in their order, the sources after the stage that queries them.
        notes: notes for the reader.
        text: the text as the agent sees it, in parts.
    """

    query: str
    style: str
    detail: str
    shares: str
    max_tokens: int
    token_count: int
    frame: int
    free: int
    exceeded: bool
    counter: str
    milliseconds: float
    candidates: int
    sources: tuple[SourceView, ...]
    items: tuple[ItemView, ...]
    left_out: tuple[Group, ...]
    timeline: tuple[Bar, ...]
    notes: tuple[str, ...]
    text: tuple[TextPart, ...]
