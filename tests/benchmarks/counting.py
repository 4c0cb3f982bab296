"""Counting tokens: speed beside `len(text) // 4` and a real tokenizer, and the error by kind."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from contextkit.text.tokens import FAMILIES, counter_for, estimate_tokens
from tests.benchmarks import seeds
from tests.benchmarks.harness import Effort, Report, compared, interleaved, percentile
from tests.benchmarks.texts import ROOT, locomo_texts
from tests.text.test_tokens import CORPORA, pieces, real_tokens

__all__ = ["estimate_speed", "token_error"]

_MEGABYTE = 1_000_000
_MOST_CHARACTERS = 200_000
"""Of one kind of text no more is counted."""


def _corpora(data: Path | None) -> dict[str, str]:
    """Kind -> text: those of the tests, this repository's, and those of the data."""
    texts = {}
    for kind, make in CORPORA.items():
        with tempfile.TemporaryDirectory() as empty:
            texts[kind] = make(Path(empty))
    texts["this repository's code"] = _joined((ROOT / "contextkit").rglob("*.py"))
    texts["this repository's texts"] = _joined((ROOT / "plugins").glob("*/*.md"))
    if data is not None:
        texts["conversations (data)"] = "\n".join(locomo_texts(data))
        texts["annotations (data)"] = _joined((data / "code-search" / "annotations").glob("*.json"))
        for folder in sorted((data / "tokens").glob("*/")):
            texts[f"{folder.name} (data)"] = _joined(folder.iterdir())
    return {kind: text[:_MOST_CHARACTERS] for kind, text in texts.items() if text}


def _joined(files: Iterable[Path]) -> str:
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in sorted(files))


def estimate_speed(effort: Effort) -> Report:
    """One megabyte of all kinds of text, at once and in pieces of 500 characters."""
    every = "\n".join(_corpora(None).values())
    size = effort.pick(_MEGABYTE, _MEGABYTE // 50)
    text = _first_bytes(every * (1 + size // len(every)), size)
    cut = list(pieces(text, step=500))
    rows = []
    for label, batch in (("1 text", [text]), (f"{len(cut):,} of 500 characters", cut)):

        def counting(count: Callable[[str], int], batch: list[str] = batch) -> Callable[[], object]:
            return lambda: [count(part) for part in batch]

        ways = {
            "ours": counting(estimate_tokens),
            "len // 4": counting(seeds.estimate_tokens),
            "o200k_base": counting(_real_tokens),
        }
        timings = interleaved(ways, effort)
        speed = size / 1000 / timings["ours"].milliseconds
        rows += [row | {"ours, MB/s": speed} for row in compared(label, timings)]
    return Report(title=f"Estimating tokens, {size / _MEGABYTE:g} MB in all", rows=rows)


def _real_tokens(text: str) -> int:
    """The tokenizer takes no text of over 200,000 tokens at once."""
    parts = range(0, len(text), _MOST_CHARACTERS)
    return sum(real_tokens(text[start : start + _MOST_CHARACTERS]) for start in parts)


def _first_bytes(text: str, size: int) -> str:
    return text.encode("utf-8")[:size].decode("utf-8", "ignore")


def token_error(effort: Effort) -> Report:
    """Each counter's error against o200k_base on pieces of 500 characters, by kind of text."""
    rows: list[dict[str, Any]] = []
    for kind, text in _corpora(effort.data).items():
        batch = list(pieces(text, step=effort.pick(100, 20_000)))
        real = [real_tokens(piece) for piece in batch]
        counters: dict[str, Callable[[str], int]] = {"len // 4": seeds.estimate_tokens}
        counters |= {counter_for(family).name: counter_for(family) for family in FAMILIES}
        for name, count in counters.items():
            errors = [100 * (count(p) / true - 1) for p, true in zip(batch, real, strict=True)]
            rows.append(
                {
                    "text": kind,
                    "counter": name,
                    "mean error, %": round(statistics.mean(map(abs, errors)), 1),
                    "bias": round(statistics.mean(errors), 1),
                    "5th": round(percentile(errors, 5)),
                    "95th": round(percentile(errors, 95)),
                    "pieces": len(batch),
                }
            )
    note = "The counters carry a safety margin, on purpose."
    return Report(title="Token counts against o200k_base, in percent", rows=rows, note=note)
