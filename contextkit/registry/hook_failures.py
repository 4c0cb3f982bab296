"""Hooks whose failure costs no more than what they would have given."""

from __future__ import annotations

from collections.abc import Callable

from contextkit.logs import get_logger

__all__ = ["Failed", "log_failure"]

_log = get_logger(__name__)

Failed = Callable[[str, str, str], None]
"""Takes note of a failed hook whose default is used instead: source, hook, reason."""


def log_failure(source: str, hook: str, reason: str) -> None:
    """Log that a hook failed whose default is used instead."""
    _log.warning("hook_failed", source=source, hook=hook, reason=reason)
