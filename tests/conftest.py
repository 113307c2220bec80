"""What every test run shares: signals as in a terminal, the same random examples, and the order of the tests."""

import signal

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.support import schedule

# A shell starts background programs with these ignored, and every program that a test starts would inherit that.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# An example may take as long as a busy machine needs: no test judges time.
settings.register_profile("same", derandomize=True, deadline=None)
# `make fuzz` asks for this one and gives a seed.
settings.register_profile("fresh", deadline=None, max_examples=2_000)
settings.load_profile("same")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=schedule.order)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> schedule.Schedule:
    return schedule.make(config, log)
