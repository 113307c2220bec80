"""Ordinary pods as containers of containerd: every probe, init containers, sidecars, hooks, kills and restarts."""

import signal

import pytest

from tests.system.containerd.image import APP, NUMBERED
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 86400 & wait"]


def quick(handler: dict[str, object], **fields: object) -> dict[str, object]:
    return {**handler, "periodSeconds": 1, "timeoutSeconds": 30, **fields}


def test_every_kind_of_probe_reaches_its_container(node: ContainerdNode) -> None:
    node.run(
        "web",
        {"name": "http", "command": ["target", ":8080"], "readinessProbe": quick({"httpGet": {"port": 8080}})},
        {"name": "tcp", "command": ["target", ":8081"], "readinessProbe": quick({"tcpSocket": {"port": 8081}})},
        {"name": "grpc", "command": ["health", "8082"], "readinessProbe": quick({"grpc": {"port": 8082}})},
        {
            "name": "exec",
            "command": SLEEP,
            "readinessProbe": quick({"exec": {"command": ["test", "-e", "/etc/passwd"]}}),
        },
        init=[
            {
                "name": "setup",
                "command": ["sh", "-c", "echo prepared by $(id -u)"],
                "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}},
                "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}},
            },
            {
                "name": "side",
                "command": ["sh", "-c", "sleep 0.3; touch /tmp/up; exec sleep 1000"],
                "restartPolicy": "Always",
                "startupProbe": quick({"exec": {"command": ["test", "-e", "/tmp/up"]}}, failureThreshold=30),
            },
        ],
    )
    node.start()
    node.until(lambda: node.pod("web")["ready"], "a ready pod")
    pod = node.pod("web")
    assert (pod["phase"], pod["ip"].rpartition(".")[0].startswith("10.231.")) == ("Running", True)
    assert [row["state"] for row in pod["containers"]] == ["terminated", *["running"] * 5]
    assert all(row["container_id"].startswith("containerd://") for row in pod["containers"])
    assert [row["restart_count"] for row in pod["containers"]] == [0] * 6
    assert node.log("web", "setup") == ["prepared by 1000"]
    for name in ("http", "tcp", "grpc", "exec"):
        assert node.container("web", name)["probes"]["readiness"]["result"] == "Success"

    node.remove("web")
    node.until(lambda: not node.pod("web")["phase"], "the pod to be gone")
    assert list(node.logs.iterdir()) == []
    assert node.containerd.ctr("tasks", "ls", "-q") == ""
    assert node.shims() == []


def test_a_failed_liveness_probe_restarts_its_container_and_the_count_is_in_the_runtime(node: ContainerdNode) -> None:
    app = {
        "name": "app",
        "command": ["sh", "-c", "touch /tmp/alive; sleep 1; rm /tmp/alive; exec sleep 1000"],
        "livenessProbe": quick({"exec": {"command": ["cat", "/tmp/alive"]}}, failureThreshold=2),
    }
    node.run("web", app, {"name": "other", "command": SLEEP}, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web")["restart_count"] == 1, "a restart")
    assert node.events("Killing", "app") == ["Container app failed liveness probe, will be restarted"]
    node.until(lambda: node.container("web")["state"] == "running", "the restarted container")
    row = node.container("web")
    assert (row["last_exit"]["exit_code"], row["last_exit"]["reason"]) == (137, "Error")
    assert node.container("web", "other")["restart_count"] == 0
    (kept,) = (found for found in node.containerd.containers() if f"containerd://{found.id}" == row["container_id"])
    assert kept.annotations["io.kubernetes.container.restartCount"] == "1"


def test_an_exec_probe_that_takes_too_long_is_a_failure(node: ContainerdNode) -> None:
    slow = quick({"exec": {"command": ["sleep", "100"]}}, timeoutSeconds=1, failureThreshold=1)
    node.run("web", {"name": "app", "command": SLEEP, "livenessProbe": slow}, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web")["restart_count"] == 1, "a restart")
    assert 'Liveness probe failed: command timed out: "sleep 100" timed out after 1s' in node.events("Unhealthy", "app")


def test_a_crash_loop_waits_in_back_off(node: ContainerdNode) -> None:
    node.run("web", {"name": "app", "command": ["sh", "-c", "echo life; exit 3"]})
    node.start()
    node.until(lambda: node.container("web")["reason"] == "CrashLoopBackOff", "the back-off")
    row = node.container("web")
    assert (row["restart_count"], row["last_exit"]["exit_code"], row["backoff"]["delay_seconds"]) == (1, 3, 10)
    assert node.log("web", restart_count=1) == ["life"]
    (message,) = node.events("BackOff", "app")
    assert message.startswith("Back-off restarting failed container app in pod web_default(")


def test_hooks_run_in_the_container_and_inside_the_grace(node: ContainerdNode) -> None:
    app = {
        "name": "app",
        "command": SLEEP,
        "lifecycle": {
            "postStart": {"exec": {"command": ["sh", "-c", "echo begun >/proc/1/fd/1"]}},
            "preStop": {"exec": {"command": ["sh", "-c", "echo ending >/proc/1/fd/1"]}},
        },
    }
    node.run("web", app, {"name": "other", "command": SLEEP}, terminationGracePeriodSeconds=20)
    node.start()
    node.until(lambda: node.container("web")["state"] == "running", "a running container")
    assert node.lines_with("hook failed") == []
    assert node.log("web") == ["begun"]
    kept = next(node.logs.glob("default_web_*/app/0.log")).open()
    node.remove("web")
    node.until(lambda: not node.pod("web")["phase"], "the pod to be gone")
    with kept:
        assert [line.split(" ", 3)[3] for line in kept.read().splitlines()] == ["begun", "ending"]
    assert node.events("FailedPreStopHook") == []


def test_drain_ends_the_pods_and_leaves_nothing(node: ContainerdNode) -> None:
    node.run("web", {"name": "app", "command": SLEEP})
    node.start("--drain")
    node.until(lambda: node.pod("web")["ready"], "a ready pod")
    assert node.shims()
    assert node.signal(signal.SIGTERM) == 0
    assert node.containerd.ctr("tasks", "ls", "-q") == ""
    assert node.shims() == []
    assert list(node.logs.iterdir()) == []


def test_a_changed_image_restarts_its_container_in_place_and_a_changed_environment_restarts_nothing(
    node: ContainerdNode,
) -> None:
    def write(image: str, value: str) -> None:
        containers = [{"name": name, "command": ["sh", "-c", "echo $A; exec sleep 1000"]} for name in ("app", "kept")]
        first, kept = ({**container, "env": [{"name": "A", "value": value}]} for container in containers)
        node.run("web", {**first, "image": image}, kept, uid="11111111-2222-3333-4444-000000000001")

    write(APP, "before")
    node.start()
    node.until(lambda: node.pod("web")["ready"], "a ready pod")
    kept, sandboxes = node.container("web", "kept"), [box.id for box in node.sandboxes()]
    write(NUMBERED, "after")
    node.until(lambda: node.container("web")["restart_count"] == 1 and node.pod("web")["ready"], "the restart")
    assert node.container("web", "kept") == kept
    assert [box.id for box in node.sandboxes()] == sandboxes
    assert node.events("Killing", "app") == ["Container app definition changed, will be restarted"]
    node.until(lambda: node.log("web", restart_count=1) == ["after"], "the new container's output")
    assert node.log("web") == ["before"]


def test_a_container_ends_with_its_message_or_with_the_end_of_its_log(node: ContainerdNode) -> None:
    said = "echo said; { id -u; tail -n 1 /etc/hosts | cut -f 2; } > /dev/termination-log; exit 3"
    node.run(
        "web",
        {"name": "app", "command": ["sh", "-c", said], "securityContext": {"runAsUser": 1000}},
        {
            "name": "logs",
            "command": ["sh", "-c", "echo said; exit 3"],
            "terminationMessagePath": "/tmp/why",
            "terminationMessagePolicy": "FallbackToLogsOnError",
        },
        restartPolicy="Never",
    )
    node.start("--drain")
    node.until(lambda: node.pod("web")["phase"] == "Failed", "the end")
    assert [node.container("web", name)["message"] for name in ("app", "logs")] == ["1000\nweb\n", "said\n"]
    assert node.signal(signal.SIGTERM) == 0
    assert list((node.root / "pods").iterdir()) == []
