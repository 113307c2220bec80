"""The wall clock of the agent jumps, an hour and a day, there and back: nobody notices."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.plane import NODE_NAME
from tests.cluster.disturbances.scene import Scene, nobody_noticed
from tests.cluster.installed import AGENT, SYSTEM, Installed
from tests.support.required import missing

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

LIBRARIES = Path("/usr/lib")
JUMPS = ("+3600", "-3600", "+86400", "-86400", "+0")
"""Seconds that the agent's wall clock is before the machine's."""
BETWEEN_SECONDS = 11.0
"""The agent renews its Lease every ten seconds, which shows its clock."""
DAY = 86400


@pytest.fixture
def clock(cluster: Cluster, probelet: Installed) -> Iterator[Path]:
    """The file that says how far the agent's clock is from the machine's. The monotonic clock stays."""
    library = next(LIBRARIES.glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        missing("faketime", "no libfaketime; on Debian: apt-get install libfaketime")
    folder = cluster.folder / "clock"
    folder.mkdir(exist_ok=True)
    (folder / "now").write_text("+0\n")
    (folder / "libfaketime.so.1").write_bytes(library.read_bytes())
    probelet.configure_agent(_with_clock(folder))
    yield folder / "now"
    probelet.configure_agent()


def _with_clock(folder: Path) -> dict[str, object]:
    variables = {
        "LD_PRELOAD": "/clock/libfaketime.so.1",
        "FAKETIME_TIMESTAMP_FILE": "/clock/now",
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    agent = {
        "name": "agent",
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "volumeMounts": [{"name": "clock", "mountPath": "/clock", "readOnly": True}],
    }
    volume = {"name": "clock", "hostPath": {"path": str(folder), "type": "Directory"}}
    return {"spec": {"containers": [agent], "volumes": [volume]}}


def test_a_clock_that_jumps_kills_nobody_and_turns_no_condition(cluster: Cluster, clock: Path, scene: Scene) -> None:
    seen_ahead = []
    for jump in JUMPS:
        clock.write_text(f"{jump}\n")
        time.sleep(BETWEEN_SECONDS)
        seen_ahead.append(_seconds_ahead(cluster))
    assert max(seen_ahead) > DAY / 2 > -DAY / 2 > min(seen_ahead), "the agent did not see another clock"
    scene.settle()
    seen = scene.end()
    nobody_noticed(seen)


def _seconds_ahead(cluster: Cluster) -> float:
    """How far the agent's clock was before this one when it renewed its Lease."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/{AGENT}-{NODE_NAME}"
    renewed = datetime.fromisoformat(cluster.api.get(path)["spec"]["renewTime"])
    return renewed.timestamp() - time.time()
