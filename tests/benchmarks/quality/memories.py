"""Memories under a token budget: what of the answers is in the assembled context.

    python -m tests.benchmarks.quality memories [--data DIR] [--detail compact|full]
        [--embedder MODEL] [--limit N] [--date-in-text] [--keep DIR] [--json FILE]

One store per conversation, a memory per turn (`Speaker: text`), each session a sequence.
A question's score is the share of its evidence turns whose text is in the context; figures
are means over questions.
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

__all__ = ["BUDGETS", "Asked", "Asking", "main", "recalls", "reports"]

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens of the whole context."""

_PATIENCE_SECONDS = 30.0


@frozen(kw_only=True)
class Asking:
    """How the contexts are asked for.

    Attributes:
        detail: `compact` or `full`.
        tokens: what counts tokens.
        limit: memories per question.
        date_in_text: whether a turn's text begins with its date; the compact style shows
            the date anyway.
        settings: dotted key -> value, for the kit.
    """

    detail: str = "compact"
    tokens: str = "o200k_base"
    limit: int = 200
    date_in_text: bool = False
    settings: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Asked:
    """One question's recall per budget, and the milliseconds that each context took."""

    conversation: str
    category: str
    recall: Sequence[float]
    milliseconds: Sequence[float]


def recalls(conversation: Conversation, folder: Path, asking: Asking) -> list[Asked]:
    """Remember a conversation in a store, and ask its questions.

    Args:
        conversation: what is remembered.
        folder: where the store is; one that is there already is used again.
        asking: how contexts are asked for.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "project": conversation.name,
        "store.path": folder / "store",
        "assemble.source_timeout": _PATIENCE_SECONDS,
        "assemble.deadline": _PATIENCE_SECONDS,
        **asking.settings,
    }
    with ContextKit.open(folder, settings=settings, environment={}) as kit:
        if is_new:
            _remember(kit, conversation.turns, asking)
        return asyncio.run(_asked(kit, conversation, asking))


def _remember(kit: ContextKit, turns: Sequence[Turn], asking: Asking) -> None:
    book = MemoryBook(kit.records("memories"))
    with kit.store.hold():
        for turn in turns:
            date = f"[{turn.said_at:%Y-%m-%d}] " if asking.date_in_text else ""
            book.remember(
                f"{date}{turn.speaker}: {turn.text}",
                created_at=turn.said_at,
                sequence=f"session {turn.session}",
                position=turn.position,
            )


async def _asked(kit: ContextKit, conversation: Conversation, asking: Asking) -> list[Asked]:
    texts = {turn.id: turn.text for turn in conversation.turns}
    found = []
    for question in conversation.questions:
        recall, milliseconds = [], []
        for budget in BUDGETS:
            started = time.perf_counter()
            context = await kit.assemble_context(
                question.text,
                ["memories"],
                limit=asking.limit,
                max_tokens=budget,
                detail=asking.detail,
                tokens=asking.tokens,
            )
            milliseconds.append(1000 * (time.perf_counter() - started))
            # Evidence that names no turn cannot be found, and counts as that.
            evidence = [texts.get(name, name) for name in question.evidence]
            recall.append(evidence_recall(context.markdown, evidence))
        found.append(
            Asked(
                conversation=conversation.name,
                category=question.category,
                recall=recall,
                milliseconds=milliseconds,
            )
        )
    return found


def reports(asked: Sequence[Asked], title: str) -> list[Report]:
    """The tables: all, each half of the conversations, each conversation, each category."""
    names = sorted({one.conversation for one in asked})
    half = (len(names) + 1) // 2
    groups = {"all": list(asked)}
    for label, part in (("first half", names[:half]), ("second half", names[half:])):
        groups[f"{label}: {', '.join(part)}"] = [one for one in asked if one.conversation in part]
    for name in names:
        groups[name] = [one for one in asked if one.conversation == name]
    for category in sorted({one.category for one in asked}):
        groups[category] = [one for one in asked if one.category == category]
    rows = [_row(label, group) for label, group in groups.items() if group]
    times = [time for one in asked for time in one.milliseconds]
    note = (
        f"{len(asked)} questions; a context takes {percentile(times, 50):.1f} ms "
        f"(95th percentile {percentile(times, 95):.1f})"
    )
    return [Report(title=title, rows=rows, note=note)]


def _row(label: str, asked: Sequence[Asked]) -> dict[str, Any]:
    at_budget = {
        f"{budget}": f"{mean(one.recall[place] for one in asked):.3f}"
        for place, budget in enumerate(BUDGETS)
    }
    return {"evidence recall": label, "questions": len(asked), **at_budget}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    given = _parser().parse_args(arguments)
    conversations = read_conversations(given.data) if given.data else invented_conversations()
    settings: dict[str, Any] = dict(map(_setting, given.set))
    if given.embedder:
        settings["sources.memories.embedder"] = given.embedder
    asking = Asking(
        detail=given.detail,
        tokens=given.tokens,
        limit=given.limit,
        date_in_text=given.date_in_text,
        settings=settings,
    )
    with _folder(given.keep) as folder:
        asked = [
            one
            for conversation in conversations
            for one in recalls(conversation, folder / conversation.name, asking)
        ]
    title = (
        f"memories, detail={asking.detail}, embedder={given.embedder or 'default'}, "
        f"limit={asking.limit}, {asking.tokens}{', date in text' if asking.date_in_text else ''}"
    )
    tables = reports(asked, title)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memories", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with LoCoMo's open conversations")
    parser.add_argument("--detail", choices=("compact", "full"), default="compact")
    parser.add_argument("--embedder", help="the memories' model, as the configuration names it")
    parser.add_argument("--tokens", default="o200k_base", help="what counts tokens")
    parser.add_argument("--limit", type=int, default=200, help="memories per question")
    parser.add_argument("--date-in-text", action="store_true", help="each text with its date")
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
