"""Deduplication: its speed beside difflib and rapidfuzz, and what it makes of known edits."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from contextkit.dedup.deduplicate import deduplicate
from contextkit.dedup.guard import Guarded
from contextkit.dedup.normal import normal_text
from tests.benchmarks import seeds
from tests.benchmarks.harness import Effort, Report, compared, interleaved
from tests.benchmarks.texts import copied, items_of, repository_texts
from tests.edits import edited, passages

__all__ = ["dedup_speed", "near_duplicates"]

_CHARACTERS = 600
_WHOLE_PAIRS = 5000
_SAMPLED_PAIRS = 500
_KINDS = ("case and punctuation", "white space", "a dropped word", "a prefix", "swapped", "a flip")


def _known_pairs(data: Path | None) -> list[dict[str, Any]]:
    """Pairs of texts with the kind of the edit, and as label whether that keeps the meaning."""
    if data is not None:
        lines = (data / "neardup" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    rng = random.Random(3)
    texts = passages()
    made = [
        {"a": text, "b": edited(text, kind, rng), "kind": kind, "label": int(kind != "a flip")}
        for kind in _KINDS
        for text in texts
    ]
    apart = zip(texts, texts[5:], strict=False)
    return made + [{"a": a, "b": b, "kind": "unrelated", "label": 0} for a, b in apart]


# -- what is found ----------------------------------------------------------------------------


def near_duplicates(effort: Effort) -> Report:
    """The share of pairs that are merged, by kind of edit, ours and the seed's."""
    pairs = _known_pairs(effort.data)[:: effort.pick(1, 7)]
    kinds = dict.fromkeys(pair["kind"] for pair in pairs)
    ours, theirs, of = Counter[str](), Counter[str](), Counter[str]()
    for pair in pairs:
        items = items_of([pair["a"], pair["b"]])
        of[pair["kind"]] += 1
        ours[pair["kind"]] += len(deduplicate(items, [0.9, 0.5], [(), ()]).duplicate_of)
        theirs[pair["kind"]] += 2 - len(seeds.deduplicate(seeds.seed_items(items)))
    labels = {pair["kind"]: pair["label"] for pair in pairs}
    rows = [
        {
            "edit": kind,
            "to be merged": "all" if labels[kind] else "none",
            "pairs": of[kind],
            "merged": ours[kind],
            "merged, %": 100 * ours[kind] / of[kind],
            "by seed 2, %": 100 * theirs[kind] / of[kind],
        }
        for kind in kinds
    ]
    return Report(title="Near duplicates: pairs that are merged", rows=rows)


# -- how fast ---------------------------------------------------------------------------------


def dedup_speed(effort: Effort) -> Report:
    """Texts of 600 characters against difflib and against rapidfuzz, on all pairs."""
    words = " ".join(pair["a"] for pair in _known_pairs(effort.data)).split()
    few, many = effort.pick(100, 6), effort.pick(2000, 40)
    rows = [
        *_rows(f"{few} of words", _of_words(words, few), effort),
        *_rows(f"{few} of this repository", _of_repository(few), effort),
        *_rows(f"{many} of words", _of_words(words, many), effort),
        *_rows(f"{many} of this repository", _of_repository(many), effort),
    ]
    note = (
        f"Where marked *, difflib's time is that of {_SAMPLED_PAIRS} pairs, times the rest. "
        "missed: pairs at 90% or more by rapidfuzz that are both kept and do not contradict."
    )
    return Report(title="Deduplication, items of 600 characters", rows=rows, note=note)


def _of_words(words: Sequence[str], number: int) -> list[str]:
    """Texts of random words; every tenth is another one less a word."""
    rng = random.Random(number)
    texts = [" ".join(rng.choices(words, k=200))[:_CHARACTERS] for _ in range(number)]
    for place in range(5, number, 10):
        texts[place] = copied(texts[place - 5], rng)
    return texts


def _of_repository(number: int) -> list[str]:
    """Code and prose, cut wherever 600 characters end; every tenth as above."""
    rng = random.Random(number)
    whole = "\n\n".join(repository_texts())
    texts = [whole[place * _CHARACTERS :][:_CHARACTERS] for place in range(number)]
    for place in range(5, number, 10):
        texts[place] = copied(texts[place - 5], rng)
    return texts


def _rows(size: str, texts: Sequence[str], effort: Effort) -> list[dict[str, Any]]:
    items = items_of(texts)
    ours = partial(deduplicate, items, [item.relevance for item in items], [()] * len(items))
    normal = [normal_text(text) for text in texts]
    result = ours()
    more = {
        "duplicates": len(result.duplicate_of),
        "missed": _missed(normal, texts, set(result.kept)),
    }
    pairs = list(combinations(texts, 2))
    step = -(-len(pairs) // effort.pick(_SAMPLED_PAIRS, 5))
    sample = pairs[::step]

    def sampled(autojunk: bool) -> object:
        return [seeds.similarity(one, other, autojunk) for one, other in sample]

    ways: dict[str, Callable[[], object]] = {
        "ours": ours,
        "rapidfuzz, all pairs": partial(_ratios, normal),
        "difflib, autojunk=False *": partial(sampled, False),
    }
    if len(pairs) <= effort.pick(_WHOLE_PAIRS, 5):
        ways["seed 2"] = partial(seeds.deduplicate, seeds.seed_items(items))
    else:
        ways["difflib, as seed 2 *"] = partial(sampled, True)
    timings = interleaved(ways, effort, warm=False)
    for name in ways:
        if name.endswith("*"):
            timings[name] = timings[name].times(len(pairs) / len(sample))
    return [row | more for row in compared(size, timings)]


def _ratios(normal: Sequence[str]) -> Any:
    """All pairs; rapidfuzz computes each once where both lists are the same object."""
    return cdist(normal, normal, scorer=fuzz.ratio, score_cutoff=90)


def _missed(normal: Sequence[str], texts: Sequence[str], kept: set[int]) -> int:
    return sum(
        one in kept and other in kept and not Guarded(texts[one]).contradicts(Guarded(texts[other]))
        for one, other in np.argwhere(np.triu(_ratios(normal), 1) > 0).tolist()
    )
