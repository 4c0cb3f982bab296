"""Write the trace of an assembly."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from contextkit.budget.fit import Account, Fitted
from contextkit.budget.pieces import Piece, Placed
from contextkit.logs import span
from contextkit.models.candidate import Candidate
from contextkit.models.trace import ItemTrace, SourceTrace, Verdict
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.select import Dropped, Selection
from contextkit.pipeline.update import Before, key_of
from contextkit.plugin.checks import log_failure

_NOTHING = Account(share=0, used=0, given=0, taken=0)


@define
class Stopwatch:
    """Times the stages of one assembly.

    Attributes:
        stages: stage -> milliseconds, in the order in which they ended.
    """

    stages: dict[str, float] = field(factory=dict)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; repeated calls add up."""
        started = time.perf_counter()
        try:
            with span(f"contextkit.{name}"):
                yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.stages[name] = self.stages.get(name, 0.0) + spent


@define
class HookFailures:
    """Collects one assembly's failed hooks, and logs each once.

    Attributes:
        notes: a line for each, for the trace.
    """

    notes: list[str] = field(factory=list, init=False)

    def __call__(self, source: str, hook: str, reason: str) -> None:
        """Record a failure, once for each source and hook."""
        note = f"{source}: {hook} failed, its default is used: {reason}"
        if not any(known.startswith(f"{source}: {hook} ") for known in self.notes):
            self.notes.append(note)
            log_failure(source, hook, reason)


def source_traces(
    answers: Sequence[Answer], selection: Selection, fitted: Fitted
) -> tuple[SourceTrace, ...]:
    """Make one trace entry per section."""
    below = {d.candidate.section for d in selection.dropped if d.verdict == "below_floor"}
    above = {candidate.section for candidate in selection.kept}
    filtered = Counter(d.candidate.section for d in selection.dropped if d.verdict == "filtered")
    above |= {
        d.candidate.section
        for d in selection.dropped
        if d.verdict not in {"below_floor", "filtered"}
    }
    return tuple(
        _source_trace(
            answer,
            fitted.accounts.get(answer.section.key, _NOTHING),
            filtered=filtered[answer.section.key],
            all_below=answer.section.key in below - above,
        )
        for answer in answers
    )


def _source_trace(
    answer: Answer, account: Account, *, filtered: int, all_below: bool
) -> SourceTrace:
    trace = SourceTrace(
        section=answer.section.key,
        source=answer.section.source,
        state=answer.state,
        milliseconds=round(answer.milliseconds, 3),
        candidates=len(answer.items) + filtered,
        share=account.share,
        used=account.used,
        given=account.given,
        taken=account.taken,
        fixed_share=account.fixed_share,
        evidence=None if account.evidence is None else round(account.evidence, 3),
        breaker=answer.breaker,
        reason=answer.reason or account.why or None,
        age=answer.age,
    )
    if all_below:
        return evolve(trace, state="below_floor", reason="no result was relevant enough")
    if answer.state == "empty" and not filtered and not answer.reason:
        return evolve(trace, reason="none found")
    return trace


def item_traces(
    selection: Selection,
    pieces: Sequence[Piece],
    fitted: Fitted,
    weak: Mapping[int, str],
    before: Before | None = None,
) -> tuple[ItemTrace, ...]:
    """Make one trace entry per candidate, best first.

    Args:
        selection: the kept and the dropped candidates.
        pieces: the formatted pieces of the kept candidates.
        fitted: the pieces in the text.
        weak: by `id` of a piece, why it is left out though there may be room.
        before: the context before the update, or None.
    """
    placed = {id(entry.piece): entry for entries in fitted.placed.values() for entry in entries}
    rows = [
        (
            piece.candidate,
            _entry(piece.candidate, "weak", weak[id(piece)], whole_tokens=piece.tokens)
            if id(piece) in weak
            else _kept(piece, placed.get(id(piece)), before, fitted.accounts),
        )
        for piece in pieces
    ]
    rows += [(dropped.candidate, _dropped(dropped)) for dropped in selection.dropped]
    return tuple(trace for _, trace in sorted(rows, key=lambda row: row[0].order))


def _kept(
    piece: Piece, entry: Placed | None, before: Before | None, accounts: Mapping[str, Account]
) -> ItemTrace:
    whole = piece.summary_of or piece
    verdict: Verdict = "kept"
    reason = "in full"
    if entry is None:
        verdict = "over_budget"
        reason = _no_room(whole.tokens, piece.candidate.section, accounts)
        if before and key_of(piece.candidate) in before.shown:
            reason = f"replaced by {before.names}: {reason}"
    elif entry.excerpt:
        verdict = "excerpt"
        reason = f"the parts that match, {entry.tokens} of {whole.tokens} tokens"
    elif entry.truncated:
        verdict, reason = "truncated", f"shortened from {whole.tokens} to {entry.tokens} tokens"
    elif piece.summary_of:
        verdict = "compressed"
        by = piece.summarised_by
        reason = f"summarised from {whole.tokens} to {entry.tokens} tokens by {by}"
    tokens = entry.tokens if entry else 0
    return _entry(piece.candidate, verdict, reason, tokens=tokens, whole_tokens=whole.tokens)


def _no_room(tokens: int, section: str, accounts: Mapping[str, Account]) -> str:
    account = accounts.get(section, _NOTHING)
    others = any(other.share for key, other in accounts.items() if key != section)
    if others and not account.share:
        return "its source got no share of the budget"
    left = "the remaining budget"
    if others and not account.taken and account.given < tokens:
        left = f"the {account.given} left of its source's share of {account.share}"
    return f"its {tokens} tokens did not fit into {left}"


def _dropped(dropped: Dropped) -> ItemTrace:
    return _entry(
        dropped.candidate, dropped.verdict, dropped.reason, duplicate_of=dropped.duplicate_of
    )


def _entry(candidate: Candidate, verdict: Verdict, reason: str, **more: Any) -> ItemTrace:
    item = candidate.item
    return ItemTrace(
        id=item.id,
        source=item.source,
        section=candidate.section,
        title=item.title or item.id,
        scores=candidate.scores.as_dict(),
        verdict=verdict,
        reason=reason,
        location=item.location,
        also_in=item.also_in,
        superseded_by=item.superseded_by,
        **more,
    )
