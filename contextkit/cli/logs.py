"""Logs of a run of the command line: on standard error, and only with `--debug`.

What a person should know a command says itself.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator

__all__ = ["logs_on_stderr"]


@contextlib.contextmanager
def logs_on_stderr(*, debug: bool) -> Iterator[None]:
    """Send logs to standard error for as long as this lasts, none of them without `debug`.

    A host that runs the command line in its own process gets its logging back.
    """
    _import_structlog()
    import structlog

    before = structlog.get_config() if structlog.is_configured() else None
    level = logging.DEBUG if debug else logging.CRITICAL
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        yield
    finally:
        if before is None:
            structlog.reset_defaults()
        else:
            structlog.configure(**before)


def _import_structlog() -> None:
    """Import structlog without rich, which it needs only for coloured tracebacks.

    That is a quarter of the time that `contextkit --help` would take.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
