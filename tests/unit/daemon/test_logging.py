import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog
from probelet.daemon.logging import Format, Level, set_up_logging


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("probelet").setLevel(logging.NOTSET)


def log_to(stream: io.StringIO, log_format: Format = "json", level: Level = "info") -> structlog.BoundLogger:
    set_up_logging(log_format, level, stream)
    logger: structlog.BoundLogger = structlog.get_logger()
    return logger


def test_json_is_one_object_a_line() -> None:
    stream = io.StringIO()
    log_to(stream).warning("pod refused", pod="default/web", field="spec.containers[0].image")
    found = json.loads(stream.getvalue())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.pop("at"))
    assert found == {
        "level": "warning",
        "message": "pod refused",
        "pod": "default/web",
        "field": "spec.containers[0].image",
    }


def test_text_is_one_line_for_a_person() -> None:
    stream = io.StringIO()
    log_to(stream, "text").info("listening", url="http://127.0.0.1:10290")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3} \[info\s*\] listening url=http://127\.0\.0\.1:10290\n", stream.getvalue()
    )


def test_a_line_break_in_a_value_cannot_forge_a_line() -> None:
    for log_format in ("text", "json"):
        stream = io.StringIO()
        log_to(stream, log_format).info("probe output", output="one\ntwo \x1b[31m")
        assert stream.getvalue().count("\n") == 1
        assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("harm", ["\x1b[2J\x07", "\x9b31m", "a\nforged", "\u202ertl", "\x1b]0;a title\x07"])
def test_no_text_of_a_runtime_or_caller_reaches_the_terminal_as_it_is(log_format: Format, harm: str) -> None:
    stream = io.StringIO()
    logger = log_to(stream, log_format)
    logger.warning(f"event {harm}", value=harm, quoted=f"two words {harm}", several=[harm])
    logging.getLogger("library").warning("message %s", harm)
    assert all(char.isprintable() or char == "\n" for char in stream.getvalue())
    assert stream.getvalue().count("\n") == 2
    try:
        raise ValueError(harm)
    except ValueError:
        logger.exception("failed")
    assert all(char.isprintable() or char == "\n" for char in stream.getvalue())


def test_an_exception_is_inside_the_object() -> None:
    stream = io.StringIO()
    logger = log_to(stream)
    try:
        raise ValueError("broken")
    except ValueError:
        logger.exception("sync failed")
    found = json.loads(stream.getvalue())
    assert "ValueError: broken" in found["exception"]


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("debug", ["d", "i", "w", "e"]),
        ("info", ["i", "w", "e"]),
        ("warning", ["w", "e"]),
        ("error", ["e"]),
    ],
)
def test_the_level_is_the_least_one_logged(level: Level, message: list[str]) -> None:
    stream = io.StringIO()
    logger = log_to(stream, level=level)
    logger.debug("d")
    logger.info("i")
    logger.warning("w")
    logger.error("e")
    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == message


def test_libraries_log_in_the_same_form_from_warnings_up() -> None:
    stream = io.StringIO()
    log_to(stream)
    library = logging.getLogger("aiohttp.server")
    library.info("chatter")
    library.warning("slow %s", "client")
    assert json.loads(stream.getvalue())["message"] == "slow client"


def test_our_own_modules_may_use_the_standard_library() -> None:
    stream = io.StringIO()
    log_to(stream)
    logging.getLogger("probelet.cri").info("connected", extra={"endpoint": "unix:///run/x.sock"})
    found = json.loads(stream.getvalue())
    assert (found["message"], found["endpoint"]) == ("connected", "unix:///run/x.sock")
