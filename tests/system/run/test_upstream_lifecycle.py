"""Cases of the kubelet's own node tests (test/e2e_node/container_lifecycle_test.go, 1.36), in smaller figures."""

from pathlib import Path
from typing import Any

import pytest

from tests.system.run.process_node import ProcessNode

pytestmark = pytest.mark.e2e

FAILS = {"exec": {"command": ["sh", "-c", "exit 1"]}, "periodSeconds": 1, "failureThreshold": 1}
HOLDS = {"exec": {"command": ["sh", "-c", "exit 0"]}, "periodSeconds": 1}


def shell(name: str, script: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": ["sh", "-c", script], **fields}


def pre_stop(script: str) -> dict[str, Any]:
    return {"preStop": {"exec": {"command": ["sh", "-c", script]}}}


@pytest.mark.parametrize("probe", ["liveness", "startup"])
async def test_the_pre_stop_hook_runs_when_a_probe_fails_and_the_pod_is_never_restarted(
    node: ProcessNode, probe: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = f"trap 'exit 0' TERM; while :; do echo alive >> {log}; sleep 0.1; done"
    three_more = f"seen=$(wc -l < {log}); until test $(wc -l < {log}) -ge $((seen + 3)); do sleep 0.1; done"
    hook = pre_stop(f"echo hook begins >> {log}; {three_more}; echo hook ends >> {log}")
    node.run("once", shell("regular", script, lifecycle=hook, **{f"{probe}Probe": FAILS}), restartPolicy="Never")
    await node.until(lambda: node.pod("once")["phase"] in ("Succeeded", "Failed"))
    lines = log.read_text().splitlines()
    during = lines[lines.index("hook begins") + 1 : lines.index("hook ends")]
    assert during.count("alive") >= 3, "beside the container, not after it"
    assert node.container("once")["restart_count"] == 0


async def test_readiness_is_probed_during_pre_stop_and_liveness_is_not(node: ProcessNode) -> None:
    container = shell(
        "regular", "sleep 3600", lifecycle=pre_stop("sleep 3600"), livenessProbe=FAILS, readinessProbe=HOLDS
    )
    node.run("once", container, restartPolicy="Never", terminationGracePeriodSeconds=3600)
    await node.until(lambda: node.events("Killing"))

    def runs() -> tuple[int, int]:
        found = node.container("once")["probes"]
        return found["liveness"]["runs"], found["readiness"]["runs"]

    liveness, readiness = runs()
    await node.until(lambda: node.container("once")["probes"]["readiness"]["runs"] >= readiness + 2)
    assert runs()[0] == liveness


async def test_a_sidecar_that_fails_during_a_pre_stop_hook_is_restarted_after_it(
    node: ProcessNode, tmp_path: Path
) -> None:
    """A kill blocks its pod: the pod handles events of that time after the kill."""

    def well_unless(flag: str) -> dict[str, Any]:
        command = {"exec": {"command": ["sh", "-c", f"! test -e {tmp_path}/{flag}"]}}
        return {**command, "periodSeconds": 1, "failureThreshold": 1}

    hook = pre_stop(f"touch {tmp_path}/hooked; until test -e {tmp_path}/seen; do sleep 0.1; done")
    node.run(
        "pair",
        shell("regular", "exec sleep 3600", livenessProbe=well_unless("sick"), lifecycle=hook),
        initContainers=[shell("side", "exec sleep 3600", restartPolicy="Always", livenessProbe=well_unless("hooked"))],
        terminationGracePeriodSeconds=100,
    )
    await node.until(lambda: node.pod("pair")["ready"])
    (tmp_path / "sick").touch()
    await node.until(lambda: node.events("Unhealthy", "side"))
    (tmp_path / "sick").unlink()
    assert node.named("pair", "side")["probes"]["liveness"]["result"] == "Failure"
    assert (node.events("Killing", "side"), node.named("pair", "regular")["restart_count"]) == ([], 0)
    (tmp_path / "seen").touch()
    await node.until(lambda: node.named("pair", "side")["restart_count"])
    regular, side = node.events("Started", "regular")[0], node.events("Killing", "side")[0]
    assert regular["count"] == 2
    assert regular["seq"] < side["seq"], "first the container whose hook it was, then the sidecar"


async def test_the_second_sidecar_starts_after_the_first_is_started_and_the_rest_after_both(
    node: ProcessNode, tmp_path: Path
) -> None:
    def sidecar(name: str) -> dict[str, Any]:
        flag = tmp_path / f"{name}-started"
        probe = {"exec": {"command": ["test", "-e", str(flag)]}, "periodSeconds": 1, "failureThreshold": 30}
        return shell(name, f"sleep 1; touch {flag}; exec sleep 3600", restartPolicy="Always", startupProbe=probe)

    node.run(
        "gated",
        shell("regular", f"ls {tmp_path}; sleep 1"),
        initContainers=[sidecar("first"), sidecar("second")],
        restartPolicy="Never",
    )
    await node.until(lambda: node.named("gated", "second").get("state") == "running")
    assert (tmp_path / "first-started").exists()
    await node.until(lambda: node.named("gated", "regular")["state"] == "running")
    assert (tmp_path / "second-started").exists()
    await node.until(lambda: node.pod("gated")["phase"] == "Succeeded")


async def test_three_init_containers_and_two_sidecars_take_turns(node: ProcessNode, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def once(name: str) -> dict[str, Any]:
        return shell(name, f"echo {name} starts >> {log}; sleep 0.2; echo {name} ends >> {log}")

    def always(name: str) -> dict[str, Any]:
        script = f"trap 'echo {name} ends >> {log}; exit 0' TERM; echo {name} starts >> {log}; sleep 86400 & wait"
        return shell(name, script, restartPolicy="Always")

    init = [once("init-1"), always("side-1"), once("init-2"), always("side-2"), once("init-3")]
    regular = once("regular")
    # Otherwise the pod may end before a sidecar's shell runs its first line.
    regular["command"][-1] += f"; until test $(grep -c '^side-. starts' {log}) = 2; do sleep 0.1; done"
    node.run("all", regular, initContainers=init, restartPolicy="Never")
    await node.until(lambda: node.pod("all")["phase"] == "Succeeded")
    lines = log.read_text().splitlines()
    # A sidecar prints its start when its shell runs, in any order with the containers that start after it.
    assert [line for line in lines if not line.startswith("side") or line.endswith("ends")] == [
        "init-1 starts", "init-1 ends", "init-2 starts", "init-2 ends", "init-3 starts", "init-3 ends",
        "regular starts", "regular ends", "side-2 ends", "side-1 ends",
    ]  # fmt: skip
    assert lines.index("init-1 ends") < lines.index("side-1 starts")
    assert lines.index("init-2 ends") < lines.index("side-2 starts")
    assert {row["restart_count"] for row in node.pod("all")["containers"]} == {0}
