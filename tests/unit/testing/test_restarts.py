"""Kills, graces and restarts of the public VirtualNode: the production policy's, unless an argument replaces them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.testing import VirtualNode

ALIVE = {"exec": {"command": ["ok"]}, "initialDelaySeconds": 5, "periodSeconds": 1, "failureThreshold": 1}
APP = {"name": "app", "image": "i", "livenessProbe": ALIVE}


def make(folder: Path, *containers: dict[str, Any], spec: dict[str, Any] | None = None, **options: Any) -> VirtualNode:
    """A node with one pod ``web`` of these containers."""
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    manifest = folder / "pod.yaml"
    manifest.write_text(yaml.dump({**document, "spec": {"containers": list(containers), **(spec or {})}}))
    return VirtualNode(manifest, **options)


def restarted_at(node: VirtualNode, seconds: int) -> list[int]:
    """Runs the node for ``seconds``; returns the seconds, rounded up, at which container ``app`` restarted."""
    found = []
    for _ in range(seconds):
        before = node.restarts("web/app")
        node.run("1s")
        found += [round(node.now)] * (node.restarts("web/app") - before)
    return found


def test_repeated_probe_kills_are_delayed_as_on_a_node(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="3s")
    node.answer("web/app/liveness", "failure 0ms")
    # Probed 5 s after each start, 3 s to end, then no delay twice, 10 s, 20 s, 40 s, 80 s, 160 s, 300 s.
    assert restarted_at(node, 680) == [8, 16, 34, 62, 110, 198, 366, 674]
    assert [kill.at for kill in node.kills] == [5, 13, 21, 39, 67, 115, 203, 371, 679]


def test_a_fixed_restart_delay_replaces_the_back_off(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="2s", restart="1s")
    node.answer("web/app/liveness", "failure 0ms")
    assert restarted_at(node, 50) == [8, 16, 24, 32, 40, 48]
    assert [kill.at for kill in node.kills] == [5, 13, 21, 29, 37, 45]


def test_a_fixed_restart_delay_of_zero_restarts_at_once_every_time(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="0s", restart="0s")
    node.answer("web/app/liveness", "failure 0ms")
    assert restarted_at(node, 60) == list(range(5, 61, 5))


@pytest.mark.parametrize(("kill", "restarted"), [("2s", 11), ("8s", 17), ("1h", 19)])
def test_a_kill_takes_the_hook_and_at_most_the_grace(tmp_path: Path, kill: str, restarted: int) -> None:
    hooked = {**APP, "lifecycle": {"preStop": {"sleep": {"seconds": 4}}}}
    node = make(tmp_path, hooked, spec={"terminationGracePeriodSeconds": 14}, kill=kill)
    node.answer("web/app/liveness", "failure 0ms", "success")
    assert restarted_at(node, 60) == [restarted]
    assert [kill.at for kill in node.kills] == [5], "the time of the failed probe; the hook and the grace follow it"


def test_the_first_crash_restarts_at_once_and_the_second_one_waits(tmp_path: Path) -> None:
    node = make(tmp_path, APP)
    node.crash("web/app")
    assert node.restarts("web/app") == 1
    node.crash("web/app")
    node.run("9s")
    assert (node.restarts("web/app"), node.ready("web")) == (1, False)
    node.run("1s")
    assert (node.restarts("web/app"), node.ready("web")) == (2, True)


def test_starting_a_waiting_container_by_hand_keeps_its_delay(tmp_path: Path) -> None:
    node = make(tmp_path, APP)
    for _ in range(2):
        node.crash("web/app")
    node.start("web/app")
    assert node.restarts("web/app") == 2
    node.start("web/app")
    assert node.restarts("web/app") == 2, "a running container is not started again"
    node.crash("web/app")
    assert restarted_at(node, 60) == [10]


def test_a_container_that_succeeds_stays_down_under_on_failure(tmp_path: Path) -> None:
    node = make(tmp_path, APP, {"name": "other", "image": "i"}, spec={"restartPolicy": "OnFailure"})
    node.crash("web/app", exit_code=0)
    node.run("1h")
    assert node.restarts("web/app") == 0
    assert not node.ready("web")


def test_an_app_is_probed_after_its_sidecar_has_started_and_its_init_container_is_done(tmp_path: Path) -> None:
    startup = {"exec": {"command": ["up"]}, "periodSeconds": 2, "failureThreshold": 30}
    init = [
        {"name": "proxy", "image": "i", "restartPolicy": "Always", "startupProbe": startup},
        {"name": "setup", "image": "i"},
    ]
    node = make(tmp_path, APP, spec={"initContainers": init})
    node.answer("web/proxy/startup", "failure 0ms * 5", "success 0ms")
    node.run("9s")
    assert (node.started("web/proxy"), node.started("web/app")) == (False, False)
    node.run("10s")
    assert node.started("web/proxy")
    assert min(attempt.at for attempt in node.attempts if attempt.worker == "web/app/liveness") == 15
