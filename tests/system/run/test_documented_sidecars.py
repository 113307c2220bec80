"""The pods of the Kubernetes documentation's pages about sidecars, as processes of this machine.

Concept "Sidecar Containers" and tutorial "Adopting Sidecar Containers". The shared volume is a directory here.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.system.run.process_node import TARGET, ProcessNode

pytestmark = pytest.mark.e2e


async def test_a_log_shipper_runs_before_and_beside_the_app(node: ProcessNode, tmp_path: Path) -> None:
    """The Deployment of the concept page: the app writes logs, the sidecar ships them."""
    log = tmp_path / "logs.txt"
    node.apply(
        "myapp",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: myapp, labels: {{app: myapp}}}}
        spec:
          containers:
          - name: myapp
            command: [sh, -c, "while true; do echo logging >> {log}; sleep 0.2; done"]
          initContainers:
          - name: logshipper
            restartPolicy: Always
            command: [sh, -c, "tail -n +1 -F {log} 2>/dev/null"]
        """,
    )
    await node.until(lambda: node.pod("myapp")["phase"] == "Running" and "logging" in node.log("myapp", "logshipper"))
    assert [event["field_path"] for event in node.events("Started")] == [
        "spec.initContainers{logshipper}",
        "spec.containers{myapp}",
    ]
    assert node.named("myapp", "logshipper")["kind"] == "sidecar"


async def test_a_job_with_a_sidecar_completes_when_its_main_container_has(node: ProcessNode, tmp_path: Path) -> None:
    """The Job of the concept page: the sidecar keeps no Job from completing, and ships its last line."""
    log, done = tmp_path / "logs.txt", tmp_path / "done"
    node.apply(
        "myjob",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: myjob}}
        spec:
          restartPolicy: Never
          containers:
          - name: myjob
            command: [sh, -c, "echo logging > {log}; until test -e {done}; do sleep 0.1; done"]
          initContainers:
          - name: logshipper
            restartPolicy: Always
            command: [sh, -c, "tail -n +1 -F {log} 2>/dev/null"]
        """,
    )
    await node.until(lambda: node.log("myjob", "logshipper") == ["logging"])
    done.touch()
    await node.until(lambda: node.pod("myjob")["phase"] == "Succeeded")
    assert node.named("myjob", "myjob")["exit_code"] == 0
    assert node.named("myjob", "logshipper")["state"] == "terminated"
    assert node.named("myjob", "logshipper")["restart_count"] == 0


async def test_the_next_container_waits_until_the_sidecar_has_started(node: ProcessNode, tmp_path: Path) -> None:
    """ "If a startupProbe is provided, the kubelet waits for it before it starts the next init container."""
    up = tmp_path / "up"
    startup = {"exec": {"command": ["test", "-e", str(up)]}, "periodSeconds": 1, "failureThreshold": 3600}
    node.run(
        "mesh",
        {"name": "app", "command": ["sleep", "3600"]},
        initContainers=[
            {
                "name": "proxy",
                "restartPolicy": "Always",
                "command": ["sleep", "3600"],
                "startupProbe": startup,
            },
            {"name": "fetch", "command": ["true"]},
        ],
    )
    await node.until(lambda: node.events("Unhealthy", "proxy"))
    assert [event["field_path"] for event in node.events("Started")] == ["spec.initContainers{proxy}"]
    up.touch()
    await node.until(lambda: node.pod("mesh")["phase"] == "Running")
    assert [event["field_path"] for event in node.events("Started")] == [
        "spec.initContainers{proxy}",
        "spec.initContainers{fetch}",
        "spec.containers{app}",
    ]
    assert node.named("mesh", "proxy")["started"]


async def test_a_sidecars_readiness_counts_for_the_pods(node: ProcessNode, tmp_path: Path) -> None:
    probe = {"exec": {"command": ["test", "-e", str(tmp_path / "ready")]}, "periodSeconds": 1}
    node.run(
        "joint",
        {"name": "app", "command": ["sleep", "3600"]},
        initContainers=[
            {"name": "proxy", "restartPolicy": "Always", "command": ["sleep", "3600"], "readinessProbe": probe}
        ],
    )
    await node.until(lambda: node.named("joint", "app").get("ready"))
    assert not node.pod("joint")["ready"]
    (tmp_path / "ready").touch()
    await node.until(lambda: node.pod("joint")["ready"])


async def test_a_sidecar_that_fails_its_liveness_probe_restarts_alone(node: ProcessNode) -> None:
    probe = {"httpGet": {"port": 8080}, "periodSeconds": 1, "failureThreshold": 1}
    node.run(
        "steady",
        {"name": "app", "command": ["sleep", "3600"]},
        initContainers=[
            {
                "name": "proxy",
                "restartPolicy": "Always",
                "command": [str(TARGET), ":8080", "ok", "status=500@2"],
                "livenessProbe": probe,
            }
        ],
    )
    await node.until(lambda: node.named("steady", "app").get("state") == "running")
    before = node.named("steady", "app")["container_id"]
    await node.until(lambda: node.named("steady", "proxy")["restart_count"] == 1)
    assert node.events("Killing")[0]["message"] == "Init container proxy failed liveness probe"
    assert node.named("steady", "app")["container_id"] == before
    assert node.pod("steady")["phase"] == "Running"


async def test_sidecars_end_after_the_app_in_the_reverse_of_their_order(node: ProcessNode, tmp_path: Path) -> None:
    """ "The kubelet postpones terminating sidecars until the main container has fully stopped, in opposite order."""
    ends = tmp_path / "ends"

    def container(name: str, needs: float, **fields: Any) -> dict[str, Any]:
        script = f"trap 'sleep {needs}; echo {name} >> {ends}; exit 0' TERM; echo {name} hears; sleep 86400 & wait"
        return {"name": name, "command": ["sh", "-c", script], **fields}

    node.run(
        "orderly",
        container("app", 1),
        initContainers=[
            container("database", 0.2, restartPolicy="Always"),
            container("proxy", 1, restartPolicy="Always"),
        ],
    )
    await node.until(lambda: node.pod("orderly")["ready"])
    names = ("database", "proxy", "app")
    await node.until(lambda: all(node.log("orderly", name) == [f"{name} hears"] for name in names))
    node.remove("orderly")
    await node.until(lambda: not node.pod("orderly")["phase"])
    assert ends.read_text().split() == ["app", "proxy", "database"], "each needs less time than the one before"
    killings = [event["message"] for event in node.events("Killing")]
    assert sorted(killings) == [f"Stopping container {name}" for name in ("app", "database", "proxy")]
