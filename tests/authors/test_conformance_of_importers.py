"""Each mistake of an importer is found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from contextkit import SourceInfo, hookimpl
from contextkit.errors import ContextKitError
from contextkit.models import PastEvent, SessionImporter, Transcript
from contextkit.testing import listening_checks
from contextkit.testing.subject import Subject

SubjectOf = Callable[..., Subject]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def importing(read: Callable[[], Iterator[PastEvent]], **given: Any) -> ModuleType:
    """A plugin whose importer finds one transcript, which is read so."""

    def find(folder: Path | None) -> list[Transcript]:
        return [Transcript(session="s", file=Path("s.jsonl"), read=read)]

    parts = {"name": "parrot", "summary": "Parrot", "find": find, **given}
    module = ModuleType("tides")

    def contextkit_importers() -> list[SessionImporter]:
        return [SessionImporter(**parts)]

    module.contextkit_importers = hookimpl(contextkit_importers)  # type: ignore[attr-defined]
    return module


def keeping(target: str) -> ModuleType:
    """A source that keeps past sessions by this function."""
    module = ModuleType("tides")

    def contextkit_source() -> SourceInfo:
        return SourceInfo(imports=target)

    module.contextkit_source = hookimpl(contextkit_source)  # type: ignore[attr-defined]
    return module


def prompts(*ids: object) -> Iterator[PastEvent]:
    """A prompt for each id."""
    report = {"hook_event_name": "UserPromptSubmit", "prompt": "high tide?"}
    return iter([PastEvent(id=f"{each}", created_at=NOON, report=report) for each in ids])


def test_an_importer_that_is_right(subject_of: SubjectOf, tmp_path: Path) -> None:
    """Nothing is found wrong in `contextkit_importers`."""
    subject = subject_of(importing(lambda: prompts(1, 2)))
    listening_checks.check_importers(subject, tmp_path)
    listening_checks.check_importers(subject, None)


count = itertools.count()


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (importing(lambda: prompts(1), name="My parrot"), "expected a name such as claude-code"),
        (importing(lambda: prompts(1), summary=" "), "'parrot' has no summary"),
        (importing(lambda: prompts(1), find=lambda folder: 1 / 0), "ZeroDivisionError"),
        (importing(prompts), "'parrot' finds no event in 1 transcripts"),
        (importing(lambda: prompts(1, 1)), "gives one id to several events"),
        (importing(lambda: prompts(next(count))), "reads other events the second time"),
        (keeping("no_such_module:keep"), "no function can be imported from no_such_module:keep"),
    ],
)
def test_wrong_importers(
    subject_of: SubjectOf, tmp_path: Path, plugin: ModuleType, message: str
) -> None:
    """What is wrong is said with the importer's name."""
    with pytest.raises(ContextKitError, match=message):
        listening_checks.check_importers(subject_of(plugin), tmp_path)
