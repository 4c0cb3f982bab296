"""What the README says is true."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit import ContextKit
from contextkit_tokenizers import encoding_of
from contextkit_tokenizers.names import ENCODINGS, MODELS, PREFIXES

OpenKit = Callable[..., ContextKit]

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*`.*) \| (o200k_base|cl100k_base) \|$", README, re.MULTILINE)


def test_the_names_are_those_that_are_counted_by() -> None:
    """Every name and every beginning of one stands in the table, with its encoding."""
    said: dict[str, str] = {}
    for names, encoding in ROWS:
        for name in re.findall(r"`([^`]{2,})`", names):
            said[name] = encoding
            if "and a `-`" in names:
                said[f"{name}-"] = encoding

    for name in (*ENCODINGS, *MODELS, *PREFIXES):
        assert said[name] == encoding_of(name)
    for name, encoding in said.items():
        assert encoding_of(f"{name}x" if name.endswith("-") else name) in {encoding, None}


@pytest.mark.parametrize("name", sorted({*re.findall(r'tokens ?= ?"([^"]+)"', README)}))
async def test_the_examples_count(open_kit: OpenKit, name: str) -> None:
    """A context of each is counted by what the example names."""
    context = await open_kit().assemble_context("how is the budget split?", tokens=name)

    assert context.trace is not None
    assert context.trace.counter in {name, f"estimate:{name}"}
