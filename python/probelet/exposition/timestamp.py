"""The time format of every document that probelet writes."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rfc3339(unix_ms: int) -> str:
    """Renders as RFC 3339 in UTC with milliseconds: ``2026-11-21T14:02:11.000Z``."""
    at = _EPOCH + timedelta(milliseconds=unix_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def unix_ms(text: str) -> int:
    """The Unix milliseconds of an RFC 3339 time. Raises ValueError for any other text."""
    return int(datetime.fromisoformat(text).timestamp() * 1000)
