"""Files that nobody would write: whatever their content, they give sound records."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from contextkit_code.chunks import MAX_CHARACTERS
from contextkit_code.code_records import RecordMaker
from contextkit_code.record_kinds import OUTLINE
from contextkit_code.text_files import NotTextError

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
_MAKER = RecordMaker()

_EDIT = st.tuples(
    st.floats(0, 1),
    st.integers(0, 60),
    st.sampled_from(["", "{", "}", "(", '"', "'", "\n", "/*", '"""', "class ", "\xe9", "\x0c"]),
)


def _edited(text: str, edits: list[tuple[float, int, str]]) -> str:
    for place, deleted, inserted in edits:
        start = int(place * len(text))
        text = text[:start] + inserted + text[start + deleted :]
    return text


def _check(path: str, content: bytes) -> None:
    try:
        records = _MAKER.records(path, content)
    except NotTextError:
        return
    lines = content.decode("utf-8", "replace").count("\n") + 1
    assert len(records) == len({record.id for record in records})
    for record in records:
        evolve(record, source="code", project="p").checked()
        fields = record.fields
        if fields["kind"] == OUTLINE:
            continue
        assert 1 <= fields["start_line"] <= fields["end_line"]
        assert len(record.text) <= MAX_CHARACTERS
        assert "\r" in content.decode("latin-1") or fields["end_line"] <= lines


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
@given(st.lists(_EDIT, max_size=6))
@settings(max_examples=25)
def test_edited_samples(sample: Path, edits: list[tuple[float, int, str]]) -> None:
    """A file in the middle of being written, in every language."""
    _check(sample.name, _edited(sample.read_text(), edits).encode())


@given(st.sampled_from(SAMPLES), st.binary(max_size=400))
def test_random_bytes(sample: Path, content: bytes) -> None:
    """Whatever the suffix promises."""
    _check(sample.name, content)


@given(st.sampled_from(SAMPLES), st.text(max_size=400))
def test_random_text(sample: Path, content: str) -> None:
    """Any characters there are."""
    _check(sample.name, content.encode("utf-8", "surrogatepass"))
