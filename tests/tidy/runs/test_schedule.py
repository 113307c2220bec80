"""The tables of the schedule name only folders and modules that there are, and each unit runs in one process."""

from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.schedule import FIRST, LAST, ONE_UNIT, SPLIT, Schedule, one_in, order, share, unit


def test_the_tables_name_what_there_is() -> None:
    assert [path for path in (*ONE_UNIT, *SPLIT, *FIRST, *LAST) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("tests/unit/spec/test_a.py::test_a", "tests/unit/spec/test_a.py"),
        ("tests/system/containerd/test_a.py::test_a", "tests/system/containerd/test_a.py"),
        ("tests/system/containerd/direct/test_a.py::test_a", "tests/system/containerd/direct/"),
        ("tests/system/cli/test_a.py::test_a[::1]", "tests/system/cli/test_a.py::test_a[::1]"),
    ],
)
def test_a_test_belongs_to_the_unit_of_what_it_shares(test: str, expected: str) -> None:
    assert unit(test) == expected


class Item:
    """A test as pytest collects it."""

    def __init__(self, nodeid: str, *marks: str) -> None:
        self.nodeid, self._marks = nodeid, marks

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self._marks else None


def test_what_waits_stands_before_what_computes_and_the_longest_outside() -> None:
    items: list[Any] = [
        Item("tests/unit/agent/test_a.py::test_a"),
        Item("tests/unit/spec/test_a.py::test_a"),
        Item("tests/system/run/test_a.py::test_a", "e2e"),
        Item("tests/system/containerd/direct/test_a.py::test_a", "e2e"),
    ]
    assert sorted(items, key=order) == items[::-1]


def test_one_case_in_so_many_is_played_at_once_and_each_of_the_others_is_slow() -> None:
    cases = [(number, kind) for number in range(4) for kind in "ab"]
    now = [case.values for case in one_in(3, cases) if not case.marks]
    slow = [case.values for case in one_in(3, cases) if pytest.mark.slow in case.marks]
    assert now == [(0, "a"), (1, "b"), (3, "a")]
    assert sorted(now + slow) == cases


class Process:
    """A process of the run, as pytest-xdist knows it; keeps which tests it gets."""

    shutting_down = False

    def __init__(self, id: str) -> None:
        self.gateway = type("Gateway", (), {"id": id})()
        self.tests: list[int] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        self.tests += tests

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.mark.parametrize(("processes", "begins"), [(6, [19, 18, 0, 1, 2, 3]), (2, [0, 1])])
def test_a_process_for_each_core_begins_at_the_end(
    processes: int, begins: list[int], monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(pytestconfig.option, "loadscopereorder", False)
    monkeypatch.setattr("xdist.scheduler.loadscope.parse_tx_spec_config", lambda _: range(processes))
    schedule = Schedule(pytestconfig)
    nodes = [Process(f"gw{number}") for number in range(processes)]
    tests = [f"tests/unit/test_{number}.py::test_a" for number in range(20)]
    for node in nodes:
        schedule.add_node(node)
        schedule.add_node_collection(node, tests)
    schedule.schedule()
    assert [node.tests[0] for node in nodes] == begins


def test_the_processes_compile_every_module_once() -> None:
    shares = [share(["tests/tidy/runs", "fuzz/no-such-folder"], ROOT, worker, 2) for worker in range(2)]
    assert all(shares)
    found = [name for each in shares for name in each]
    assert sorted(found) == [f"tests.tidy.runs.{name}" for name in ("test_once_more", "test_schedule", "test_times")]
