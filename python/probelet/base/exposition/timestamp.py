"""The time format of every document that probelet writes."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Python also reads other forms of ISO 8601, and a time without a zone as one of this machine.
_RFC3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")


def rfc3339(unix_ms: int) -> str:
    """Renders as RFC 3339 in UTC with milliseconds: ``2026-11-21T14:02:11.000Z``."""
    at = _EPOCH + timedelta(milliseconds=unix_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rfc3339_micro(unix_ns: int) -> str:
    """Renders as the API's MicroTime, which has six digits: ``2026-11-21T14:02:11.000000Z``. Rounds down."""
    at = _EPOCH + timedelta(microseconds=unix_ns // 1000)
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def unix_ms(text: str) -> int:
    """The Unix milliseconds of an RFC 3339 time. Raises ValueError for any other text, and for a time that is not in
    the years 1 to 9999 in UTC."""
    if not _RFC3339.fullmatch(text):
        raise ValueError("not a time as RFC 3339 has it")
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError as error:
        raise ValueError("not in the years 1 to 9999") from error
