"""Log to standard error, and only with `--debug`.

A command prints messages for people itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from contextkit.logs import events_on_stderr, silenced


@contextlib.contextmanager
def logs_on_stderr(*, debug: bool) -> Iterator[None]:
    """Send logs to standard error within the block.

    Without `debug` there are no logs. A host that runs the command line in its own process gets its
    logging back.
    """
    if not debug:
        with silenced():
            yield
        return
    import logging

    import structlog

    before = structlog.get_config() if structlog.is_configured() else None
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=structlog.PrintLoggerFactory(events_on_stderr),
    )
    try:
        yield
    finally:
        if before is None:
            structlog.reset_defaults()
        else:
            structlog.configure(**before)
