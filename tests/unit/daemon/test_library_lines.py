"""Lines that peers cause through a library: one a second of each kind."""

import io
import json
import logging

from probelet.daemon.library_lines import KINDS_MAX, LibraryLines


def logged(stream: io.StringIO, lines: LibraryLines) -> logging.Logger:
    handler = logging.StreamHandler(stream)
    handler.addFilter(lines)
    handler.setFormatter(logging.Formatter(json.dumps({"text": "%(message)s"})))
    logger = logging.Logger("asyncio")
    logger.addHandler(handler)
    return logger


def test_a_flood_of_one_kind_is_a_line_a_second_that_counts() -> None:
    now, seen = 0.0, []
    lines = LibraryLines(lambda: now)
    logger = logging.Logger("asyncio")
    handler = logging.Handler()
    handler.emit = lambda record: seen.append((record.getMessage(), getattr(record, "more", 0)))  # type: ignore[method-assign]
    handler.addFilter(lines)
    logger.addHandler(handler)
    for number in range(100):
        logger.warning("socket %d", number)
    logger.warning("another kind")
    now = 1.0
    logger.warning("socket %d", 100)
    assert seen == [("socket 0", 0), ("another kind", 0), ("socket 100", 99)]


def test_texts_that_never_repeat_share_a_second() -> None:
    stream = io.StringIO()
    logger = logged(stream, LibraryLines(lambda: 0.0))
    for number in range(1_000):
        logger.warning(f"text {number}")
    assert len(stream.getvalue().splitlines()) == KINDS_MAX + 1


def test_our_own_lines_all_pass() -> None:
    lines = LibraryLines(lambda: 0.0)
    record = logging.LogRecord("probelet.run", logging.WARNING, "", 1, "again", (), None)
    assert all(lines.filter(record) for _ in range(10))
