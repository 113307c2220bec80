"""Which tests run side by side: pytest-xdist gives units of work to its processes in this order.

Tests of one unit run one after another in one process, because they share something that is expensive to make or that
exists only once on a machine. A module is one unit, unless a table below says otherwise.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ONE_UNIT = (
    # One API server with its etcd.
    "tests/system/admission/",
    "tests/system/containerd/",
    # One build/wheel, which make removes and builds again if a source has changed.
    "tests/system/packages/",
    # TCP ports that the recordings name.
    "tests/kubelet/replay/",
)
"""Folders whose modules share the API server, the containerd, the build folder or the ports."""

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
    "tests/tidy/pages/test_docs.py",
)
"""Modules and folders whose tests wait for seconds and share nothing, so each test is a unit."""

FIRST = (
    "tests/system/containerd/",
    "tests/system/test_demo.py",
    "tests/system/journal/",
    "tests/system/service/",
    "tests/handlers/",
    "tests/system/packages/",
    "tests/system/stress/",
    "tests/system/test_benches.py",
    "tests/tidy/pages/test_docs.py",
)
"""The longest units begin first, because a long unit at the end would leave the other processes idle."""


class Schedule(LoadScopeScheduling):
    """Hands out units of work in the order of ``FIRST``."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """The unit that a test belongs to."""
    folder = next((folder for folder in ONE_UNIT if nodeid.startswith(folder)), None)
    if folder is not None:
        return folder
    return nodeid if nodeid.startswith(SPLIT) else nodeid.partition("::")[0]


def order(item: pytest.Item) -> int:
    """The sort key of a test's unit: sorting is stable, so all other units keep their order."""
    return next((place for place, path in enumerate(FIRST) if item.nodeid.startswith(path)), len(FIRST))


def make(config: pytest.Config, log: Producer) -> Schedule:
    """The scheduler of a run. It keeps the order of collection; xdist would begin with the largest units."""
    config.option.loadscopereorder = False
    return Schedule(config, log)
