"""SetContainerReadiness, kubelet status/status_manager_test.go, 1.36: rows K16 to K18."""

from typing import Any

import msgspec
import pytest

from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.row import row

LATE = msgspec.json.encode([{"outcome": "success", "delay_ms": 500}])


def manager_with(*names: str) -> Manager:
    manager = Manager(glue="readiness")
    manager.define("pod", [container(name, "readiness") for name in names])
    return manager


def ready(manager: Manager) -> dict[str, Any]:
    status = manager.stored("pod")
    return {"": status["ready"]} | {row["name"]: row["ready"] for row in status["containers"]}


def stored(manager: Manager) -> int:
    """How often a status was set since the previous call."""
    return sum(line["section"] == "stored" for line in msgspec.json.decode(manager.simulation.take_records()))


@row("K16")
def test_readiness_without_a_status_is_ignored(row: str) -> None:
    manager = manager_with("foo")
    manager.simulation.script("pod/foo/readiness", LATE)
    manager.status("pod", running("foo", started=True))
    manager.add("pod")
    manager.simulation.remove_pod_status("pod")
    manager.run(0.9)
    assert manager.simulation.result("readiness", "test://foo_container_id") == "Success"
    assert manager.simulation.status("pod") is None


@pytest.mark.parametrize("container_id", [pytest.param("test://unknown", id="K17-unknown id")])
def test_readiness_of_an_unknown_container_is_ignored(container_id: str) -> None:
    manager = manager_with("foo")
    manager.simulation.script("pod/foo/readiness", LATE)
    manager.status("pod", running("foo", started=True))
    manager.add("pod")
    manager.status("pod", running("foo", container_id, started=True))
    stored(manager)
    manager.run(0.9)
    assert ready(manager) == {"": False, "foo": False}
    assert stored(manager) == 0


@row("K17-unchanged value")
def test_an_unchanged_readiness_is_not_set_again(row: str) -> None:
    manager = manager_with("foo")
    manager.status("pod", running("foo", started=True, ready=True))
    manager.add("pod")
    # The initial value makes the container unready and the first run makes it ready: two changes, and no more.
    assert stored(manager) == 2
    manager.run(10)
    assert stored(manager) == 0


@row("K18")
def test_a_pod_is_ready_when_its_second_container_is_too(row: str) -> None:
    manager = manager_with("c1", "c2")
    manager.answer("pod/c2/readiness", "failure*2", "success")
    manager.status("pod", running("c1", started=True), running("c2", started=True))
    manager.add("pod")
    assert ready(manager) == {"": False, "c1": True, "c2": False}
    manager.run(2.5)
    assert ready(manager) == {"": True, "c1": True, "c2": True}
