"""kubelet prober/prober_manager_test.go, 1.36: rows M1 to M7; M8 to M10 are tests of later releases."""

from typing import Any

import pytest

from tests.kubelet.upstream.manager import Manager, container, running, terminated
from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import TYPES, ProbeType

THREE: tuple[ProbeType, ...] = ("readiness", "liveness", "startup")


@row("M1")
def test_add_remove_pods(row: str) -> None:
    manager = Manager()
    manager.define("no_probe", [container("no_probe1"), container("no_probe2")])
    probed = [container("probe1", "readiness"), container("probe2", "liveness"), container("probe3", "startup")]
    manager.define("probe", [*probed, *(container(f"no_probe{number}") for number in (3, 4, 5))])
    keys = {"probe/probe1/readiness", "probe/probe2/liveness", "probe/probe3/startup"}
    manager.add("no_probe")
    assert manager.workers == set()
    manager.add("probe")
    assert manager.workers == keys
    manager.simulation.remove_pod("no_probe")
    manager.simulation.settle()
    assert manager.workers == keys
    manager.simulation.remove_pod("probe")
    manager.simulation.settle()
    assert manager.workers == set()
    manager.simulation.remove_pod("probe")
    manager.simulation.settle()


@pytest.mark.parametrize("sidecar", [pytest.param(True, id="M2-sidecar"), pytest.param(False, id="M2-init container")])
def test_add_remove_pods_with_restartable_init_container(sidecar: bool) -> None:
    manager = Manager()
    init = container("init", *TYPES, **({"restartPolicy": "Always"} if sidecar else {}))
    manager.define("pod", [container("main")], initContainers=[init])
    manager.add("pod")
    assert manager.workers == ({f"pod/init/{each}" for each in TYPES} if sidecar else set())
    manager.simulation.remove_pod("pod")
    manager.simulation.settle()
    assert manager.workers == set()


@row("M3")
def test_cleanup_pods(row: str) -> None:
    manager = Manager()
    for uid in ("pod_cleanup", "pod_keep"):
        manager.define(uid, [container(f"probe{each}", each) for each in THREE])
        manager.add(uid)
    manager.simulation.cleanup_pods(["pod_keep"])
    manager.simulation.settle()
    assert manager.workers == {f"pod_keep/probe{each}/{each}" for each in THREE}


@row("M4")
def test_cleanup_repeated(row: str) -> None:
    manager = Manager()
    for number in range(100):
        manager.define(f"pod{number}", [container(f"probe{each}", each) for each in THREE])
        manager.add(f"pod{number}")
    assert len(manager.workers) == 300
    for _ in range(10):
        manager.simulation.cleanup_pods([])
    manager.simulation.settle()
    assert manager.workers == set()


NAMES = ("unprobed", "ready", "pending", "unready", "not_started", "started", "terminated")


@pytest.fixture
def prober() -> Manager:
    """Workers and cached results as in TestUpdatePodStatus; ``pending`` and ``not_started`` have no cached result."""
    manager = Manager()
    readiness = {"ready", "pending", "unready", "terminated"}
    types: dict[str, tuple[ProbeType, ...]] = {name: ("readiness",) for name in readiness}
    types |= {"unprobed": ("liveness",), "not_started": ("startup",), "started": ("startup",)}
    manager.define("pod", [container(name, *types[name]) for name in NAMES])
    manager.answer("pod/unready/readiness", "failure")
    cached = [name for name in NAMES if name not in ("pending", "not_started")]
    manager.status("pod", *(running(name, started=name != "started") for name in cached))
    manager.add("pod")
    return manager


@pytest.mark.parametrize(
    ("name", "ready", "started"),
    [
        pytest.param(name, ready, started, id=f"M5-{name}")
        for name, ready, started in (
            ("unprobed", True, True),
            ("ready", True, True),
            ("pending", False, True),
            ("unready", False, True),
            ("not_started", False, False),
            ("started", True, True),
            ("terminated", False, False),
        )
    ],
)
def test_update_pod_status(prober: Manager, name: str, ready: bool, started: bool) -> None:
    rows = [running(each) if each != "terminated" else terminated(each) for each in NAMES]
    filled = prober.update("pod", *rows)
    assert (filled[name]["ready"], filled[name]["started"]) == (ready, started)


@pytest.mark.parametrize(
    ("policy", "ready"),
    [
        pytest.param({}, (False, False, True), id="M6-init containers"),
        pytest.param({"restartPolicy": "Always"}, (False, True, False), id="M6-sidecars"),
    ],
)
def test_update_pod_status_with_init_containers(policy: dict[str, Any], ready: tuple[bool, ...]) -> None:
    manager = Manager()
    names = ("not_started", "started", "terminated")

    def init(policy: dict[str, Any]) -> list[dict[str, Any]]:
        probed = [container(name, "startup", **policy) for name in names[:2]]
        return [*probed, container(names[2], **policy)]

    # Upstream inserts workers by hand. Here AddPod makes them, for sidecars only; they stay when the pod changes.
    manager.define("pod", [], initContainers=init({"restartPolicy": "Always"}))
    manager.status("pod", init=(running("started", started=False),))
    manager.add("pod")
    assert manager.simulation.result("startup", "test://started_container_id") == "Success"
    manager.define("pod", [], initContainers=init(policy))
    filled = manager.update("pod", init=(running("not_started"), running("started"), terminated("terminated")))
    assert tuple(filled[name]["started"] for name in names) == (False, True, False)
    assert tuple(filled[name]["ready"] for name in names) == ready


@row("M7")
def test_update_readiness(row: str) -> None:
    manager = Manager(glue="readiness")
    manager.define("pod", [container("test-container", "readiness")])
    manager.status("pod", running("test-container", started=True))
    manager.add("pod")
    manager.run(1)
    assert manager.stored("pod")["ready"]
    assert manager.stored("pod")["containers"][0]["ready"]
    manager.answer("pod/test-container/readiness", "failure")
    manager.run(29)
    assert not manager.stored("pod")["ready"]
    assert not manager.stored("pod")["containers"][0]["ready"]


def met_again(version: str) -> set[str]:
    """The workers after AddPod of a pod that had only the readiness worker of its second container."""
    manager = Manager(version=version)
    manager.define("pod", [container("a"), container("b", "readiness"), container("c")])
    manager.add("pod")
    manager.define("pod", [container("a", *TYPES), container("b", *TYPES), container("c", *TYPES)])
    manager.add("pod")
    return manager.workers


@pytest.mark.parametrize("version", [pytest.param(each, id=f"M8-{each}") for each in ("1.37", "1.38")])
def test_add_pod_with_an_existing_worker(version: str) -> None:
    # AddPod skips the rest of b's probes and goes on with c's.
    met = {"pod/b/startup", "pod/b/readiness"}
    assert met_again(version) == {f"pod/{name}/{each}" for name in "ac" for each in TYPES} | met


@pytest.mark.parametrize(
    "version", [pytest.param(each, id=f"M9-{each}") for each in ("1.34", "1.35", "1.36", "1.37", "1.38")]
)
def test_probes_outlive_the_sync_that_added_them(version: str) -> None:
    manager = Manager(version=version, glue="kubelet")
    manager.define("pod", [container("main", "readiness")])
    # The context of the first sync has ended long before the pod's termination, and the probe still runs then.
    manager.sync("pod", running("main"))
    assert manager.sync("pod", running("main"))["ready"]
    manager.sync("pod", running("main"), terminating=True)
    manager.answer("pod/main/readiness", "failure")
    manager.run(3)
    assert not manager.stored("pod")["ready"]


@pytest.mark.parametrize(
    ("version", "stopped"),
    [pytest.param(version, version == "1.38", id=f"M10-{version}") for version in ("1.36", "1.37", "1.38")],
)
def test_stop_liveness_and_startup_with_sidecars(version: str, stopped: bool) -> None:
    manager = Manager(version=version)
    sidecar = container("sidecar", *TYPES, restartPolicy="Always")
    manager.define("pod", [container("main", *TYPES)], initContainers=[sidecar])
    manager.add("pod")
    manager.simulation.stop_liveness_and_startup("pod")
    manager.simulation.settle()
    left = {"pod/main/readiness", "pod/sidecar/readiness"}
    assert manager.workers == (left if stopped else left | {"pod/sidecar/liveness", "pod/sidecar/startup"})
