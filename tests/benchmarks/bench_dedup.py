"""Deduplication: speed beside difflib and plain rapidfuzz, and what is caught of known edits.

    python -m tests.benchmarks.bench_dedup [--data DIR] [--items 100 2000]

DIR holds `pairs.jsonl`, one pair a line with `a`, `b`, `kind` and `label` (1: the edit
keeps the meaning); its texts are also those that are timed. Without it, both are made of
a text of the tests.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from contextkit.dedup import deduplicate
from contextkit.dedup.guard import Guarded
from contextkit.dedup.normal import normal_text
from contextkit.models import ContextItem
from tests.test_dedup import PROSE, edited, passages

_CHARACTERS = 600
_DIFFLIB_PAIRS = 5000
_KINDS = ("case and punctuation", "white space", "a dropped word", "a prefix", "swapped", "a flip")


def pairs(data: Path | None) -> list[dict[str, Any]]:
    """Pairs of texts with their kind and label."""
    if data is not None:
        lines = (data / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
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


def items_of(texts: Sequence[str]) -> list[ContextItem]:
    """Items of five sources."""
    return [
        ContextItem(f"source{number % 5}", text, 0.5, id=str(number))
        for number, text in enumerate(texts)
    ]


def long_texts(words: list[str], number: int) -> list[str]:
    """Texts of 600 characters of random words; every tenth lacks a word of another."""
    rng = random.Random(number)
    texts = [" ".join(rng.choices(words, k=200))[:_CHARACTERS] for _ in range(number)]
    for place in range(5, number, 10):
        copied = texts[place - 5].split()
        del copied[rng.randrange(len(copied))]
        texts[place] = " ".join(copied)
    return texts


def seconds(work: Callable[[], object], runs: int = 1) -> float:
    """The best of some runs."""
    spans = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        spans.append(time.perf_counter() - start)
    return min(spans)


def report_edits(known: list[dict[str, Any]]) -> None:
    """Print the share of each kind that is merged."""
    merged: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for pair in known:
        result = deduplicate(items_of([pair["a"], pair["b"]]), [0.9, 0.5], [(), ()])
        merged[pair["kind"]] += len(result.duplicate_of)
        of[pair["kind"]] += 1
    labels = {pair["kind"]: pair["label"] for pair in known}
    click.echo(f"{'edit':24} wanted  merged  pairs")
    for kind, number in of.items():
        wanted = "all" if labels[kind] else "none"
        click.echo(f"{kind:24} {wanted:6} {100 * merged[kind] / number:6.1f}%  {number}")


def report_speed(words: list[str], number: int) -> None:
    """Print the times of one set of texts, and the pairs that were missed."""
    texts = long_texts(words, number)
    items = items_of(texts)
    scores = [1 - place / number for place in range(number)]
    keys: list[tuple[str, ...]] = [()] * number
    normal = [normal_text(text) for text in texts]
    ours = seconds(lambda: deduplicate(items, scores, keys), runs=7)
    exact = seconds(lambda: cdist(normal, normal, scorer=fuzz.ratio, score_cutoff=90)) / 2
    compared = list(combinations(texts, 2))
    every = len(compared)
    step = max(1, every // _DIFFLIB_PAIRS)
    sample = compared[::step]
    naive = seconds(lambda: [_difflib_ratio(*pair) for pair in sample]) * every / len(sample)
    result = deduplicate(items, scores, keys)
    missed = len(list(_missed(normal, texts, set(result.kept))))
    click.echo(
        f"\n{number} items of {_CHARACTERS} characters, {len(result.duplicate_of)} duplicates\n"
        f"  contextkit           {1000 * ours:12.1f} ms\n"
        f"  rapidfuzz, all pairs {1000 * exact:12.1f} ms  {exact / ours:8.0f} x\n"
        f"  difflib, all pairs   {1000 * naive:12.1f} ms  {naive / ours:8.0f} x"
        f"{'' if step == 1 else f'  (from every {step}th pair)'}\n"
        f"  pairs over 90% that were both kept and do not contradict: {missed}"
    )


def _difflib_ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _missed(normal: Sequence[str], texts: Sequence[str], kept: set[int]) -> Iterator[None]:
    ratios = cdist(normal, normal, scorer=fuzz.ratio, score_cutoff=90)
    for one, other in np.argwhere(np.triu(ratios, 1) > 0).tolist():
        both = one in kept and other in kept
        if both and not Guarded(texts[one]).contradicts(Guarded(texts[other])):
            yield


def main() -> None:
    """Run both reports."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with pairs.jsonl")
    parser.add_argument("--items", type=int, nargs="+", default=[100, 2000])
    arguments = parser.parse_args()
    known = pairs(arguments.data)
    report_edits(known)
    source = " ".join(pair["a"] for pair in known) if arguments.data else PROSE
    for number in arguments.items:
        report_speed(source.split(), number)


if __name__ == "__main__":
    main()
