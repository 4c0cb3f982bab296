"""Memories under a token budget: what of the answers is in the assembled context.

    python -m tests.benchmarks.quality memories [--data DIR] [--ways NAME ...]
        [--embedder MODEL] [--limit N] [--budgets N ...] [--keep DIR] [--json FILE]

One store per conversation, a memory per turn (`Speaker: text`). A question's score is the share
of its evidence turns whose text is in the context; figures are means over questions:

    default   what a host gets that sets nothing; each turn has its time and its session
    text      the same, where the host remembers texts alone, one behind the other
    best      the best settings known: one line a turn, tokens counted exactly
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from contextkit import ContextKit
from contextkit_memories import MemoryBook
from tests.benchmarks.harness import Report, percentile
from tests.benchmarks.quality.conversations import (
    Conversation,
    Turn,
    invented_conversations,
    read_conversations,
)
from tests.benchmarks.quality.evidence import evidence_recall, mean

__all__ = ["BUDGETS", "WAYS", "Asked", "Asking", "Way", "main", "recalls", "reports"]

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens of the whole context."""

_PATIENCE_SECONDS = 30.0


@frozen(kw_only=True)
class Way:
    """How a host uses the memories.

    Attributes:
        dated: whether each turn is remembered with its time and its session.
        options: the arguments of `assemble_context` that differ from its defaults.
    """

    dated: bool = True
    options: Mapping[str, Any] = field(factory=dict)


WAYS: Mapping[str, Way] = {
    "default": Way(),
    "text": Way(dated=False),
    "best": Way(options={"detail": "compact", "tokens": "o200k_base", "limit": 200}),
}


@frozen(kw_only=True)
class Asking:
    """What contexts are asked for.

    Attributes:
        ways: some of `WAYS`.
        budgets: tokens of the contexts.
        options: arguments of `assemble_context`, for every way.
        settings: dotted key -> value, for the kit.
    """

    ways: Sequence[str] = tuple(WAYS)
    budgets: Sequence[int] = BUDGETS
    options: Mapping[str, Any] = field(factory=dict)
    settings: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Asked:
    """One question asked in one way.

    Attributes:
        conversation: its name.
        category: what kind of question it is.
        way: one of `WAYS`.
        recall, milliseconds: per budget, what was found and how long the context took.
    """

    conversation: str
    category: str
    way: str
    recall: Sequence[float]
    milliseconds: Sequence[float]


def recalls(conversation: Conversation, folder: Path, asking: Asking) -> list[Asked]:
    """Remember a conversation, and ask its questions.

    Args:
        conversation: what is remembered.
        folder: where the stores are; one that is there already is used again.
        asking: how contexts are asked for.
    """
    asked = []
    for name in asking.ways:
        way = WAYS[name]
        place = folder / ("dated" if way.dated else "text")
        is_new = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
        settings = {
            "project": conversation.name,
            "store.path": place / "store",
            "assemble.source_timeout": _PATIENCE_SECONDS,
            "assemble.deadline": _PATIENCE_SECONDS,
            **asking.settings,
        }
        with ContextKit.open(place, settings=settings, environment={}) as kit:
            if is_new:
                _remember(kit, conversation.turns, way)
            asked += asyncio.run(_asked(kit, conversation, name, asking))
    return asked


def _remember(kit: ContextKit, turns: Sequence[Turn], way: Way) -> None:
    book = MemoryBook(kit.records("memories"))
    with kit.store.hold():
        for turn in turns:
            place: dict[str, Any] = {
                "created_at": turn.said_at,
                "sequence": f"session {turn.session}",
                "position": turn.position,
            }
            book.remember(f"{turn.speaker}: {turn.text}", **(place if way.dated else {}))


async def _asked(
    kit: ContextKit, conversation: Conversation, way: str, asking: Asking
) -> list[Asked]:
    texts = {turn.id: turn.text for turn in conversation.turns}
    options = {**WAYS[way].options, **asking.options}
    found = []
    for question in conversation.questions:
        # Evidence that names no turn cannot be found, and counts as that.
        evidence = [texts.get(name, name) for name in question.evidence]
        recall, milliseconds = [], []
        for budget in asking.budgets:
            started = time.perf_counter()
            context = await kit.assemble_context(
                question.text, ["memories"], max_tokens=budget, record_use=False, **options
            )
            milliseconds.append(1000 * (time.perf_counter() - started))
            recall.append(evidence_recall(context.markdown, evidence))
        found.append(
            Asked(
                conversation=conversation.name,
                category=question.category,
                way=way,
                recall=recall,
                milliseconds=milliseconds,
            )
        )
    return found


def reports(asked: Sequence[Asked], budgets: Sequence[int]) -> list[Report]:
    """A table for each way: all, each half of the conversations, each conversation, each kind."""
    return [
        _report(way, [one for one in asked if one.way == way], budgets)
        for way in dict.fromkeys(one.way for one in asked)
    ]


def _report(way: str, asked: Sequence[Asked], budgets: Sequence[int]) -> Report:
    names = sorted({one.conversation for one in asked})
    half = (len(names) + 1) // 2
    groups = {"all": list(asked)}
    for label, part in (("first half", names[:half]), ("second half", names[half:])):
        groups[f"{label}: {', '.join(part)}"] = [one for one in asked if one.conversation in part]
    for name in names:
        groups[name] = [one for one in asked if one.conversation == name]
    for category in sorted({one.category for one in asked}):
        groups[category] = [one for one in asked if one.category == category]
    rows = [_row(label, group, budgets) for label, group in groups.items() if group]
    times = [time for one in asked for time in one.milliseconds]
    note = (
        f"{len(asked)} questions; a context takes {percentile(times, 50):.1f} ms "
        f"(95th percentile {percentile(times, 95):.1f})"
    )
    return Report(title=f"memories: {way}", rows=rows, note=note)


def _row(label: str, asked: Sequence[Asked], budgets: Sequence[int]) -> dict[str, Any]:
    at_budget = {
        f"{budget}": f"{mean(one.recall[place] for one in asked):.3f}"
        for place, budget in enumerate(budgets)
    }
    return {"evidence recall": label, "questions": len(asked), **at_budget}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    given = _parser().parse_args(arguments)
    conversations = read_conversations(given.data) if given.data else invented_conversations()
    settings: dict[str, Any] = dict(map(_setting, given.set))
    if given.embedder:
        settings["sources.memories.embedder"] = given.embedder
    options = {} if given.limit is None else {"limit": given.limit}
    asking = Asking(ways=given.ways, budgets=given.budgets, options=options, settings=settings)
    with _folder(given.keep) as folder:
        asked = [
            one
            for conversation in conversations
            for one in recalls(conversation, folder / conversation.name, asking)
        ]
    tables = reports(asked, given.budgets)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memories", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with LoCoMo's open conversations")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--embedder", help="the memories' model, as the configuration names it")
    parser.add_argument("--limit", type=int, help="memories per question, in every way")
    parser.add_argument("--keep", type=Path, help="a folder for the stores, to use them again")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


def _setting(pair: str) -> tuple[str, Any]:
    key, _, text = pair.partition("=")
    try:
        return key, json.loads(text)
    except json.JSONDecodeError:
        return key, text


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


if __name__ == "__main__":
    main()
