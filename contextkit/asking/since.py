"""Times as people write them: a date, a moment, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from contextkit.errors import InvalidRequestError

__all__ = ["parse_since"]

_AGO = re.compile(r"(\d{1,9})\s*([mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, now: datetime | None = None) -> datetime:
    """The time that a text names, aware.

    Args:
        text: ISO 8601, as in `2026-05-01` or `2026-05-01T12:00Z`, of this machine's time zone
            where it names none; or so many minutes, hours, days or weeks ago: `30m`, `12h`,
            `7d`, `2w`.
        now: what is counted back from; default: now.

    Raises:
        InvalidRequestError: it is none of these.
    """
    text = text.strip()
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            unit = _UNITS[ago[2].lower()]
            return (now or datetime.now(UTC)) - timedelta(**{unit: int(ago[1])})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidRequestError(
            f"since must be a date as in 2026-05-01, or how long ago as in 7d or 12h, got {text!r}"
        ) from error
