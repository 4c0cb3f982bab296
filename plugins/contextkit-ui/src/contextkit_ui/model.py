"""What the page shows, as values that JSON has: the same for the report and the served page."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from contextkit.models import SourceState, Verdict


@frozen(kw_only=True)
class Link:
    """Another item, and where on the page it is.

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
        rank: its place among all candidates, the best being 1.
        source, section, id, title, location, verdict, reason: as the trace has them.
        kind: what it is (`function`, `memory`), or "" where it is not in the text.
        hue: the number of its source's colour.
        tokens: tokens it takes in the text, 0 when it is not in it.
        whole_tokens: tokens it would take whole; 0 where that is not known.
        score: what it was ranked by, 0..1.
        components: what the score is made of, name -> 0..1.
        content: it as the text shows it, or None when it is not in it.
        duplicate_of: the item that it repeats, or None.
        also_in: the duplicates of it that were dropped.
        superseded_by: the newer item that says otherwise, or None.
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
    """One section of the recipe; the tokens and states are the trace's.

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


@frozen(kw_only=True)
class Group:
    """Candidates that were left out for one reason.

    Attributes:
        verdict: the reason.
        title: the reason as a heading.
        words: what it means.
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
    """A part of the text; all parts in a row are the text.

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
    """A context and how it came to be.

    Attributes:
        query: what was asked.
        style, detail, shares: how the text was asked for.
        max_tokens: the budget.
        token_count: tokens of the text.
        frame: tokens of what belongs to no section: the title and the footer.
        free: tokens of the budget that nothing took.
        exceeded: whether the text is over the budget.
        counter: what counted the tokens.
        milliseconds: all stages together.
        candidates: how many items there were to choose from.
        sources: one for each section, in the order of the text.
        items: what is in the text, in its order.
        left_out: what is not, by reason; no empty groups.
        timeline: the stages in their order, the sources behind the one that asks them.
        notes: what a person should know.
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
