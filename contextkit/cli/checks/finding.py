"""The result of a check, and its duration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from attrs import evolve, frozen

from contextkit.errors import ContextKitError, in_words

State = Literal["ok", "warning", "problem"]
_ORDER: tuple[State, ...] = ("ok", "warning", "problem")


@frozen
class Finding:
    """The result of one check.

    Attributes:
        part: the part that was checked, for instance `store`.
        state: `ok`; `warning`: it works, and could be better; `problem`: it does not.
        text: the result.
        remedy: what to do about it, or None.
        milliseconds: how long the check took.
    """

    part: str
    state: State
    text: str
    remedy: str | None = None
    milliseconds: float = 0.0


def fine(part: str, text: str) -> Finding:
    """Create a finding for a part that works."""
    return Finding(part, "ok", text)


def warning(part: str, text: str, remedy: str | None = None) -> Finding:
    """Create a finding for a part that could be better."""
    return Finding(part, "warning", text, remedy)


def problem(part: str, text: str, remedy: str | None = None) -> Finding:
    """Create a finding for a part that does not work."""
    return Finding(part, "problem", text, remedy)


def timed(part: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield a check's findings with their times; never raise.

    The time of a finding counts from the one before. An exception of the check becomes one more
    finding. Only an interrupt is raised.
    """
    begun = time.perf_counter()
    findings = iter(check())
    while True:
        try:
            found = next(findings)
        except StopIteration:
            return
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an extension's panic, too
            known = isinstance(error, ContextKitError)
            found = problem(part, str(error) if known else in_words(error))
        now = time.perf_counter()
        yield evolve(found, milliseconds=(now - begun) * 1000)
        begun = now


def worst(findings: Iterable[Finding]) -> State:
    """Return the worst state of findings; `ok` without any."""
    return max((found.state for found in findings), key=_ORDER.index, default="ok")
