"""Token estimate: speed beside `len(text) // 4` and a real tokenizer, and its error by kind.

    python -m tests.benchmarks.bench_tokens [--data DIR]

DIR holds text files in one folder per kind (`DIR/prose/a.txt`); without it, the texts
are those of the tests.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from contextkit.tokens import FAMILIES, counter_for, estimate_tokens
from tests.test_tokens import CORPORA, pieces, real_tokens


def corpora(data: Path | None) -> dict[str, str]:
    """Kind -> text."""
    if data is None:
        texts = {}
        for kind, make in CORPORA.items():
            with tempfile.TemporaryDirectory() as folder:
                texts[kind] = make(Path(folder))
        return texts
    return {
        folder.name: "\n".join(
            file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.iterdir())
        )
        for folder in sorted(data.iterdir())
        if folder.is_dir()
    }


def seconds(count: Callable[[str], int], texts: list[str]) -> float:
    """The best of five runs over all texts."""
    spans = []
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            count(text)
        spans.append(time.perf_counter() - start)
    return min(spans)


def report_speed(texts: dict[str, str]) -> None:
    """Print megabytes a second, and the time against the real tokenizer's."""
    parts = [part for text in texts.values() for part in pieces(text, step=500)]
    whole = ["\n".join(texts.values())]
    counters = {
        "len // 4": lambda text: len(text) // 4,
        "estimate": estimate_tokens,
        "o200k_base": real_tokens,
    }
    for label, batch in (("pieces of 500", parts), ("one text", whole)):
        megabytes = sum(len(text.encode("utf-8", "replace")) for text in batch) / 1e6
        spans = {name: seconds(count, batch) for name, count in counters.items()}
        for name, span in spans.items():
            click.echo(
                f"{label:14} {name:11} {megabytes / span:9.1f} MB/s  "
                f"{1e6 * span / len(batch):9.1f} us a text  "
                f"{spans['o200k_base'] / span:7.1f} x o200k_base"
            )


def report_error(texts: dict[str, str]) -> None:
    """Print each counter's error against o200k_base on pieces of 500 characters, in percent."""
    click.echo(f"\n{'kind':14} {'counter':17} mean error  bias   5th  95th  pieces")
    for kind, text in texts.items():
        batch = list(pieces(text))
        real = [real_tokens(piece) for piece in batch]
        counters: dict[str, Callable[[str], int]] = {"len // 4": lambda piece: len(piece) // 4}
        counters |= {counter_for(name).name: counter_for(name) for name in FAMILIES}
        for name, count in counters.items():
            errors = [
                100 * (count(piece) / true - 1) for piece, true in zip(batch, real, strict=True)
            ]
            low, *_, high = statistics.quantiles(errors, n=20)
            click.echo(
                f"{kind:14} {name:17} {statistics.mean(map(abs, errors)):10.1f} "
                f"{statistics.mean(errors):+5.1f} {low:+5.0f} {high:+5.0f} {len(batch):7}"
            )


def main() -> None:
    """Run both reports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder of text files, one folder per kind")
    texts = corpora(parser.parse_args().data)
    report_speed(texts)
    report_error(texts)


if __name__ == "__main__":
    main()
