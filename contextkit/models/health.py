"""Findings of `contextkit doctor`, as plugins report them."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

HealthState = Literal["ok", "warning", "problem"]
HEALTH_STATES: tuple[HealthState, ...] = ("ok", "warning", "problem")
"""The states of a finding, the best first."""


@frozen
class HealthFinding:
    """One finding of a plugin about itself, a line of `contextkit doctor`.

    Attributes:
        state: `ok`; `warning`: it works, and could be better; `problem`: it does not work.
        text: the finding, on one line.
        remedy: what the user can do about it, on one line, or None.
    """

    state: HealthState
    text: str
    remedy: str | None = None
