"""The tables of the schedule name only folders and modules that there are, and each unit runs in one process."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]

from tests.support.paths import ROOT
from tests.support.schedule import (
    FIRST,
    LAST,
    ONE_UNIT,
    SPLIT,
    Schedule,
    has_waiting_tests,
    ignores,
    one_in,
    order,
    share,
    unit,
    waits,
)


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


class Begun(NamedTuple):
    """A run that has begun on two cores."""

    schedule: Schedule
    processes: list[Process]
    failed: list[str]
    """The processes whose lists of tests were refused."""

    def tests(self) -> dict[str, list[str]]:
        return {
            process.gateway.id: [self.schedule.registered_collections[process][test] for test in process.tests]
            for process in self.processes
        }


Begin = Callable[[list[str], list[str], list[str]], Begun]


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Begin:
    """``begin(names, whole, part)``: ``part`` is what the processes collect that wait, ``whole`` the others."""

    def run(names: list[str], whole: list[str], part: list[str]) -> Begun:
        failed: list[str] = []
        config: Any = SimpleNamespace(
            getvalue=lambda name: [f"{len(names)}*popen"],
            option=SimpleNamespace(loadscopereorder=False),
            hook=SimpleNamespace(pytest_collectreport=lambda report: failed.append(report.nodeid)),
            pluginmanager=SimpleNamespace(get_plugin=lambda name: None),
        )
        schedule = Schedule(config, Producer("test"))
        processes = [Process(name) for name in names]
        for process in processes:
            schedule.add_node(process)
            schedule.add_node_collection(process, part if waits(process.gateway.id, len(names)) else whole)
        schedule.schedule()
        return Begun(schedule, processes, failed)

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    return run


TESTS = [f"tests/unit/test_{number}.py::test_a" for number in range(20)]
SIX = ["gw3", "gw1", "gw5", "gw0", "gw2", "gw4"]
"""Six processes in the order in which they have collected."""


def test_a_process_for_each_core_begins_at_the_end_and_the_others_take_what_they_have_collected(begin: Begin) -> None:
    run = begin(SIX, TESTS, TESTS[3:8])
    tests = run.tests()
    assert {tests["gw0"][0], tests["gw1"][0]} == set(TESTS[-2:])
    assert sorted(chain.from_iterable(tests[name] for name in ("gw2", "gw3", "gw4", "gw5"))) == TESTS[3:8]
    assert run.schedule.collection == TESTS
    ended = {process.gateway.id for process in run.processes if process.shutting_down}
    assert ended == {name for name, its in tests.items() if len(its) < 2}
    assert ended.isdisjoint({"gw0", "gw1"})


def test_processes_that_each_have_a_core_begin_at_the_beginning(begin: Begin) -> None:
    assert {name: tests[0] for name, tests in begin(["gw0", "gw1"], TESTS, []).tests().items()} == {
        "gw0": TESTS[0],
        "gw1": TESTS[1],
    }


def test_the_only_test_is_left_to_a_process_that_has_collected_it(begin: Begin) -> None:
    assert list(chain.from_iterable(begin(SIX, TESTS[:1], []).tests().values())) == TESTS[:1]


def test_a_process_that_has_collected_something_else_ends_the_run(begin: Begin) -> None:
    run = begin(SIX, TESTS, ["tests/unit/test_other.py::test_a"])
    assert (run.schedule.collection, sorted(run.failed)) == (None, ["gw2", "gw3", "gw4", "gw5"])
    assert not any(run.tests().values())


def test_only_what_a_dead_process_has_not_run_is_handed_out_again(begin: Begin) -> None:
    run = begin(SIX, TESTS, [])
    dead, other = (process for process in run.processes if process.gateway.id in ("gw0", "gw1"))
    done, crashed = (run.schedule.registered_collections[dead][test] for test in dead.tests)
    run.schedule.assigned_work[dead][unit(done)][done] = True
    assert run.schedule.remove_node(dead) == crashed
    assert unit(crashed) in run.schedule.workqueue
    assert unit(done) not in run.schedule.workqueue
    assert not other.shutting_down


@pytest.mark.parametrize(
    ("worker", "count", "expected"), [("gw1", 6, False), ("gw2", 6, True), ("gw6", 6, False), ("gw1", 2, False)]
)
def test_who_waits(worker: str, count: int, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert waits(worker, count) == expected


def test_a_process_that_waits_ignores_what_has_no_test_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    paths = [ROOT / "tests", ROOT / "tests/tidy/runs", Path(__file__), ROOT / "tests/system/test_demo.py"]
    for worker, expected in {"gw1": [None] * 4, "gw2": [None, True, True, None]}.items():
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "6")
        assert [ignores(path) for path in paths] == expected


def test_every_test_that_waits_is_in_a_module_that_says_so(request: pytest.FixtureRequest) -> None:
    marked = {item.path for item in request.session.items if item.get_closest_marker("e2e")}
    assert {path for path in marked if not has_waiting_tests(path)} == set()


@pytest.mark.parametrize("count", [2, 6])
def test_the_processes_compile_every_module_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    folders = ["tests/tidy/runs", "tests/system/journal", "fuzz/no-such-folder"]
    shares = [share(folders, f"gw{number}", count) for number in range(count)]
    there = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).glob("test_*.py")]
    assert sorted(chain.from_iterable(shares)) == sorted(".".join(path.with_suffix("").parts) for path in there)
    assert [] not in shares[:2]
