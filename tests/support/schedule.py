"""Which tests run side by side: pytest-xdist gives units of work to its processes in this order.

Tests of one unit run one after another in one process, because they share something that is expensive to make or that
exists only once on a machine. A module is one unit, unless a table below says otherwise.

Tests marked ``e2e`` mostly wait, and stand at the beginning of the list of units; the other tests compute, and stand at
its end. One process for each core takes its units from the end, the other processes take theirs from the beginning.

The processes that take their units from the end collect every test, and finish the list. The others collect the modules
that have a test marked ``e2e``, because a collection of everything takes five seconds of a core in each process.

pytest rewrites the assertions of each module and keeps the byte code, which takes longer than the rest of a collection,
so after a change each process compiles its share of the modules first.
"""

import contextlib
import functools
import importlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

from tests.support.paths import ROOT

ONE_UNIT = (
    # One browser.
    "tests/system/browser/",
    # An API server with its etcd each, which ends with the folder's last test.
    "tests/system/admission/",
    "tests/system/deploy/",
    "tests/system/kube/",
    # Thirty pods on one containerd, and profiles in the folder of a kubelet.
    "tests/system/containerd/direct/",
    # One build/wheel, which make removes and builds again if a source has changed.
    "tests/system/packages/",
    # TCP ports that the recordings name.
    "tests/kubelet/replay/",
)
"""Folders whose modules share the API server, the pods, the build folder or the ports."""

SPLIT = (
    "tests/handlers/hostile/test_neighbours.py",
    "tests/kubelet/upstream/e2e/test_processes.py",
    "tests/system/cli/",
    "tests/system/journal/",
    "tests/system/process_runtime/",
    "tests/system/run/",
    "tests/system/stress/",
    "tests/system/test_benches.py",
    "tests/system/test_demo.py",
    "tests/system/upgrade/",
    "tests/tidy/pages/test_docs.py",
)
"""Modules and folders whose tests wait for seconds and share nothing, so each test is a unit."""

FIRST = (
    "tests/system/deploy/",
    "tests/system/containerd/direct/",
    "tests/system/admission/",
    "tests/system/kube/",
    "tests/system/containerd/",
    "tests/system/test_demo.py",
    "tests/system/journal/",
    "tests/system/run/",
    "tests/system/upgrade/",
    "tests/system/service/",
    "tests/handlers/",
    "tests/system/packages/",
    "tests/system/stress/",
    "tests/system/test_benches.py",
    "tests/tidy/pages/test_docs.py",
)
"""The longest units begin first, because a long unit at the end would leave the other processes idle."""

LAST = (
    "tests/tidy/test_tidy.py",
    "tests/unit/lab/picture/",
    "tests/unit/lab/simulate/",
    "tests/unit/node/",
    "tests/unit/agent/",
)
"""The longest of the units that compute stand at the end of the list, where the processes that compute begin."""


class Schedule(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out units of work in the order of ``FIRST``, and what computes to a process for each core."""

    registered_collections: dict[WorkerController, list[str]]
    assigned_work: dict[WorkerController, dict[str, dict[str, bool]]]

    def schedule(self) -> None:
        if self.collection is None:
            # xdist takes the first process's list for the run's, and if there is little to do, it ends the last ones.
            self.registered_collections = self._complete_first(self.registered_collections)
            self.assigned_work = self._complete_first(self.assigned_work)
        super().schedule()
        # xdist takes the length of the list that came last.
        if session := self.config.pluginmanager.get_plugin("session"):
            session.testscollected = len(self.collection or ())

    def _check_nodes_have_same_collection(self) -> bool:
        """Processes that wait may have a part of the tests; apart from that all lists have to be equal."""
        lists = self.registered_collections
        whole = next(iter(lists.values()))
        self.registered_collections = {
            node: whole if self._waits(node) and set(tests) <= set(whole) else tests for node, tests in lists.items()
        }
        try:
            return super()._check_nodes_have_same_collection()  # type: ignore[no-any-return]
        finally:
            self.registered_collections = lists

    def remove_node(self, node: WorkerController) -> str | None:
        """Takes back what a process that died has not run. xdist would also hand out its units that are done. A process
        that gets such a unit has no result to send, so it would get no other one, and the run would never end."""
        units = self.assigned_work[node]
        self.assigned_work[node] = {name: tests for name, tests in units.items() if not all(tests.values())}
        return super().remove_node(node)  # type: ignore[no-any-return]

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        chosen: str | None
        if self._waits(node):
            own = set(self.registered_collections[node])
            chosen = next((name for name, tests in self.workqueue.items() if own.issuperset(tests)), None)
        else:
            chosen = next(reversed(self.workqueue) if self.numnodes > cores() else iter(self.workqueue))
        if chosen is None:
            node.shutdown()
            return
        self.workqueue.move_to_end(chosen, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        """A process has to know one test after the one that it runs. A second would wait although others are idle. A
        process that replaces a dead one gets its first tests once it has collected."""
        if node not in self.registered_collections:
            return
        if node.shutting_down or not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)

    def _waits(self, node: WorkerController) -> bool:
        return waits(node.gateway.id, self.numnodes)

    def _complete_first(self, of_nodes: dict[WorkerController, Any]) -> dict[WorkerController, Any]:
        return dict(sorted(of_nodes.items(), key=lambda entry: self._waits(entry[0])))


def cores() -> int:
    return os.cpu_count() or 1


def waits(worker: str, count: int) -> bool:
    """Whether ``worker`` of ``count`` processes runs only tests that wait. xdist names the processes gw0, gw1 and so
    on; one that replaces a dead one gets a number of ``count`` or more, and may run everything."""
    return cores() <= int(worker.removeprefix("gw")) < count


def unit(nodeid: str) -> str:
    """The unit that a test belongs to."""
    folder = next((folder for folder in ONE_UNIT if nodeid.startswith(folder)), None)
    if folder is not None:
        return folder
    return nodeid if nodeid.startswith(SPLIT) else nodeid.partition("::")[0]


def order(item: pytest.Item) -> int:
    """The sort key of a test's unit: sorting is stable, so all other units keep their order."""
    if item.get_closest_marker("e2e"):
        return next((place for place, path in enumerate(FIRST) if item.nodeid.startswith(path)), len(FIRST))
    return len(FIRST) + 1 + next((place for place, path in enumerate(LAST, 1) if item.nodeid.startswith(path)), 0)


def one_in(count: int, cases: Iterable[Sequence[Any]]) -> list[Any]:
    """Parameters of many cases that are much alike. ``make test`` plays every ``count``-th, ``make test-release`` the
    others. ``count`` has no divisor in common with the number of kinds that take turns, so that each kind is played."""
    return [
        pytest.param(*case, marks=() if number % count == 0 else pytest.mark.slow) for number, case in enumerate(cases)
    ]


def make(config: pytest.Config, log: Producer) -> Schedule:
    """The scheduler of a run. It keeps the order of collection; xdist would begin with the largest units."""
    config.option.loadscopereorder = False
    return Schedule(config, log)


def ignores(path: Path) -> bool | None:
    """Whether this process has nothing to collect in ``path``; ``None`` where pytest decides."""
    worker, count = _process()
    if not waits(worker, count) or not (path.is_dir() or path.name.startswith("test_")):
        return None
    modules = path.glob("**/test_*.py") if path.is_dir() else [path]
    return None if any(map(has_waiting_tests, modules)) else True


@functools.cache
def has_waiting_tests(module: Path) -> bool:
    """Whether a module's unit has tests marked ``e2e``, from its text: an import takes more than everything else."""
    return module.relative_to(ROOT).as_posix().startswith(ONE_UNIT) or "pytest.mark.e2e" in module.read_text()


def import_share(config: pytest.Config) -> None:
    """Imports the share of one of xdist's processes, which compiles it."""
    worker, count = _process()
    for name in share(config.args, worker, count) if count > 1 else ():
        # A module that fails fails again when pytest collects it, and then pytest reports it.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def share(folders: Iterable[str], worker: str, count: int) -> list[str]:
    """The names of the test modules below ``folders`` that process ``worker`` of ``count`` compiles."""
    found = sorted(path for folder in folders for path in (ROOT / folder).glob("**/test_*.py"))
    peers = [f"gw{number}" for number in range(count)]
    if count > cores():
        found = [path for path in found if has_waiting_tests(path) == waits(worker, count)]
        peers = [peer for peer in peers if waits(peer, count) == waits(worker, count)]
    mine = found[peers.index(worker) :: len(peers)] if worker in peers else []
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in mine]


def _process() -> tuple[str, int]:
    """The name of this process and the number of all that xdist has started."""
    return os.environ.get("PYTEST_XDIST_WORKER", "gw0"), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
