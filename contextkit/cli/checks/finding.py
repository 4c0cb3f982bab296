"""Findings of checks, with the time that they took."""

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
        part: the checked part, for instance `store`.
        state: `ok`; `warning`: it works, but could be better; `problem`: it does not work.
        text: a description.
        remedy: what to do, or None.
        milliseconds: how long the check took.
    """

    part: str
    state: State
    text: str
    remedy: str | None = None
    milliseconds: float = 0.0


def fine(part: str, text: str) -> Finding:
    """A finding without fault."""
    return Finding(part, "ok", text)


def warning(part: str, text: str, remedy: str | None = None) -> Finding:
    """A finding of something that works, but could be better."""
    return Finding(part, "warning", text, remedy)


def problem(part: str, text: str, remedy: str | None = None) -> Finding:
    """A finding of something that does not work."""
    return Finding(part, "problem", text, remedy)


def timed(part: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Run a check, time its findings, and never raise.

    An error of the check becomes a finding. Only an interrupt is raised.
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
        except BaseException as error:  # noqa: BLE001 - even a panic of an extension
            known = isinstance(error, ContextKitError)
            found = problem(part, str(error) if known else in_words(error))
        now = time.perf_counter()
        yield evolve(found, milliseconds=(now - begun) * 1000)
        begun = now


def worst(findings: Iterable[Finding]) -> State:
    """The worst state of the findings; `ok` without any."""
    return max((found.state for found in findings), key=_ORDER.index, default="ok")
