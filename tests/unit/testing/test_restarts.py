"""Kills, graces and restarts of the public node: those of the production policy, unless an argument says otherwise."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.testing import VirtualNode

ALIVE = {"exec": {"command": ["ok"]}, "initialDelaySeconds": 5, "periodSeconds": 1, "failureThreshold": 1}
APP = {"name": "app", "image": "i", "livenessProbe": ALIVE}


def make(folder: Path, *containers: dict[str, Any], spec: dict[str, Any] | None = None, **options: Any) -> VirtualNode:
    """A node with one pod ``web``."""
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    manifest = folder / "pod.yaml"
    manifest.write_text(yaml.dump({**document, "spec": {"containers": list(containers), **(spec or {})}}))
    return VirtualNode(manifest, **options)


def restarted_at(node: VirtualNode, seconds: int) -> list[int]:
    """After how many seconds of the node, rounded up, container ``app`` was started again."""
    found = []
    for _ in range(seconds):
        before = node.restarts("web/app")
        node.run("1s")
        found += [round(node.now)] * (node.restarts("web/app") - before)
    return found


def test_a_loop_of_probe_kills_is_backed_off_as_on_a_node(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="3s")
    node.answer("web/app/liveness", "failure 0ms")
    # Probed 5 s after each start, 3 s to end, then no delay twice, 10 s, 20 s, 40 s, 80 s, 160 s, 300 s.
    assert restarted_at(node, 680) == [8, 16, 34, 62, 110, 198, 366, 674]
    assert [kill.at for kill in node.kills] == [5, 13, 21, 39, 67, 115, 203, 371, 679]


def test_with_a_restart_of_its_own_every_restart_comes_so_long_after_the_end(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="2s", restart="1s")
    node.answer("web/app/liveness", "failure 0ms")
    assert restarted_at(node, 50) == [8, 16, 24, 32, 40, 48]
    assert [kill.at for kill in node.kills] == [5, 13, 21, 29, 37, 45]


def test_a_restart_of_nothing_has_no_delay_ever(tmp_path: Path) -> None:
    node = make(tmp_path, APP, kill="0s", restart="0s")
    node.answer("web/app/liveness", "failure 0ms")
    assert restarted_at(node, 60) == list(range(5, 61, 5))


@pytest.mark.parametrize(("kill", "restarted"), [("2s", 11), ("8s", 17), ("1h", 19)])
def test_a_kill_has_its_hook_and_its_grace(tmp_path: Path, kill: str, restarted: int) -> None:
    hooked = {**APP, "lifecycle": {"preStop": {"sleep": {"seconds": 4}}}}
    node = make(tmp_path, hooked, spec={"terminationGracePeriodSeconds": 14}, kill=kill)
    node.answer("web/app/liveness", "failure 0ms", "success")
    assert restarted_at(node, 60) == [restarted]
    assert [kill.at for kill in node.kills] == [5], "the verdict; the hook and the grace come after it"


def test_a_crash_is_restarted_at_once_and_then_waits(tmp_path: Path) -> None:
    node = make(tmp_path, APP)
    node.crash("web/app")
    assert node.restarts("web/app") == 1
    node.crash("web/app")
    node.run("9s")
    assert (node.restarts("web/app"), node.ready("web")) == (1, False)
    node.run("1s")
    assert (node.restarts("web/app"), node.ready("web")) == (2, True)


def test_a_container_that_waits_is_started_by_hand_and_its_delay_stays(tmp_path: Path) -> None:
    node = make(tmp_path, APP)
    for _ in range(2):
        node.crash("web/app")
    node.start("web/app")
    assert node.restarts("web/app") == 2
    node.start("web/app")
    assert node.restarts("web/app") == 2, "it runs"
    node.crash("web/app")
    assert restarted_at(node, 60) == [10]


def test_a_container_that_succeeds_stays_down_under_on_failure(tmp_path: Path) -> None:
    node = make(tmp_path, APP, {"name": "other", "image": "i"}, spec={"restartPolicy": "OnFailure"})
    node.crash("web/app", exit_code=0)
    node.run("1h")
    assert node.restarts("web/app") == 0
    assert not node.ready("web")


def test_the_app_is_probed_when_its_sidecar_has_started_and_its_init_container_is_done(tmp_path: Path) -> None:
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
