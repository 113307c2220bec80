"""The service's log: structlog to stderr, as text or as one JSON object per line; the standard library's too."""

import logging
import sys
from typing import Literal, TextIO

import structlog

from probelet.daemon.library_lines import LibraryLines
from probelet.daemon.log_text import cut, escape, write_traceback

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]


def set_up_logging(log_format: Format, level: Level, stream: TextIO | None = None, *, colors: bool = False) -> None:
    """Sends every log record from now on to ``stream`` (default stderr) in one form.

    JSON objects have ``at`` (RFC 3339, UTC, milliseconds), ``level``, ``message``, and the record's other keys.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        _time_of_day if log_format == "text" else _timestamp,
    ]
    last: list[structlog.typing.Processor]
    if log_format == "json":
        last = [
            structlog.processors.format_exc_info,
            cut,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(),
        ]
    else:
        last = [
            cut,
            escape,
            structlog.dev.ConsoleRenderer(
                colors=colors, timestamp_key="at", pad_event_to=0, sort_keys=False, exception_formatter=write_traceback
            ),
        ]
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(LibraryLines())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
        )
    )
    # Libraries (asyncio, aiohttp, grpc) log from warnings up, except at level debug.
    logging.basicConfig(level=logging.WARNING if level == "info" else level.upper(), handlers=[handler], force=True)
    logging.getLogger("probelet").setLevel(level.upper())
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level.upper()),
        logger_factory=_probelet_logger,
        cache_logger_on_first_use=False,
    )


def _probelet_logger(*_: object) -> logging.Logger:
    return logging.getLogger("probelet")


def _timestamp(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    from datetime import UTC, datetime

    event["at"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return event


def _time_of_day(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    from datetime import UTC, datetime

    event["at"] = f"{datetime.now(UTC):%H:%M:%S.%f}"[:-3]
    return event
