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


FORGED = "12:00:00.000 [error    ] the node is on fire"
HOSTILE = [
    f"x\n{FORGED}",
    f"x\r{FORGED}",
    f"\u2028{FORGED}",
    f"x\x0b\x85{FORGED}",
    "\x1b[2J\x1b]0;title\x07",
    "\x1b[31m\x1b]52;c;AAAA\x07",
    "\x9b2J",
    "\u202eltr\u2066",
    "a b\x1b[2J'\"=\n",
    "\ud800",
    "\0",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_text_of_others_forges_a_line_or_reaches_the_terminal(log_format: Format, text: str) -> None:
    stream = io.StringIO()
    logger = log_to(stream, log_format)
    logger.info(text)
    logger.info("said", pod=text, words=[text], fields={text: text}, error=ValueError(text))
    logger.info("said", **{text: "key"})
    logging.getLogger("asyncio").warning("library: %s", text)
    lines = stream.getvalue().removesuffix("\n").split("\n")
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines), lines


def test_colors_are_our_own() -> None:
    stream = io.StringIO()
    set_up_logging("text", "info", stream, colors=True)
    structlog.get_logger().info("\x1b[2J", pod="\x1b[3m")
    assert "\x1b[2J" not in stream.getvalue()
    assert "\x1b[3m" not in stream.getvalue()


def test_a_value_of_several_lines_is_quoted_once() -> None:
    stream = io.StringIO()
    log_to(stream, "text").info("said", output="one\ntwo three", name="a\x1bb")
    assert stream.getvalue().endswith("output='one\\ntwo three' name=a\\x1bb\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_of_a_traceback_looks_like_one_of_the_log(text: str) -> None:
    stream = io.StringIO()
    logger = log_to(stream, "text")
    try:
        raise ValueError(text)
    except ValueError:
        logger.exception("sync failed")
    first, *others = stream.getvalue().removesuffix("\n").split("\n")
    assert first.endswith("sync failed")
    assert len(others) >= 3
    assert all(line.startswith("    ") and line.isprintable() for line in others)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_has_a_limit(log_format: Format) -> None:
    stream = io.StringIO()
    logger = log_to(stream, log_format)
    logger.info("m" * 1_000_000, value="v" * 1_000_000)
    assert len(stream.getvalue()) < 40_000
    try:
        raise ValueError("e" * 1_000_000 + "the end")
    except ValueError:
        logger.exception("sync failed")
    assert len(stream.getvalue()) < 80_000
    assert "the end" in stream.getvalue()


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
