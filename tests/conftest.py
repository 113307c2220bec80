"""Makes test runs alike: signal handlers as in a terminal, the same random examples, one order of the tests."""

import gc
import logging
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from xdist.remote import Producer

from tests.support import report, schedule

# API servers, containerd and kubectl spend a tenth of their processor time less on garbage with twice the memory.
os.environ.setdefault("GOGC", "400")

# A shell's background jobs ignore these signals, and every program that a test starts would inherit that.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# No deadline for an example: a busy machine may be slow.
settings.register_profile("same", derandomize=True, deadline=None)
# `make fuzz` selects this profile and gives it a seed.
settings.register_profile("fresh", deadline=None, max_examples=2_000)
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    report.register(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collects without the garbage collector, and hides from it what was collected, which never becomes garbage."""
    gc.disable()
    try:
        schedule.import_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Takes back what a verb that ran in this process has set up for its log; the next test may read its own."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return (yield)
    finally:
        structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.getLogger("probelet").setLevel(logging.NOTSET)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return schedule.ignores(collection_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=schedule.order)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> schedule.Schedule:
    return schedule.make(config, log)
