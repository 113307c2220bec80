"""The pods of the Kubernetes documentation's page "Configure Liveness, Readiness and Startup Probes", as processes.

The page's figures are divided by five or so; what happens is the same.
"""

from pathlib import Path

import pytest

from tests.system.run.process_node import TARGET, ProcessNode, seconds_between, waited

pytestmark = pytest.mark.e2e


async def test_a_liveness_command_that_fails_gets_the_container_restarted(node: ProcessNode, tmp_path: Path) -> None:
    """liveness-exec: healthy while a file exists, which is removed after a while."""
    (tmp_path / "healthy").touch()
    node.apply(
        "liveness-exec",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: liveness-exec, labels: {{test: liveness}}}}
        spec:
          containers:
          - name: liveness
            command: [sh, -c]
            args: ["touch {tmp_path}/healthy; sleep 4; rm -f {tmp_path}/healthy; exec sleep 600"]
            livenessProbe:
              exec: {{command: [cat, {tmp_path}/healthy]}}
              initialDelaySeconds: 1
              periodSeconds: 1
        """,
    )
    await node.until(lambda: node.container("liveness-exec").get("restart_count") == 1)
    unhealthy = node.events("Unhealthy")[0]
    assert unhealthy["message"].startswith("Liveness probe failed: cat: ")
    assert unhealthy["message"].rstrip().endswith("No such file or directory")
    assert unhealthy["count"] == 3, "the failure threshold"
    assert node.events("Killing")[0]["message"] == "Container liveness failed liveness probe, will be restarted"


async def test_a_liveness_request_that_is_answered_with_500_gets_the_container_restarted(node: ProcessNode) -> None:
    """liveness-http: 200 for the first seconds, then 500."""
    node.apply(
        "liveness-http",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: liveness-http, labels: {{test: liveness}}}}
        spec:
          containers:
          - name: liveness
            command: ["{TARGET}", ":8080", ok, status=500@3]
            livenessProbe:
              httpGet:
                path: /healthz
                port: 8080
                httpHeaders: [{{name: Custom-Header, value: Awesome}}]
              initialDelaySeconds: 1
              periodSeconds: 1
        """,
    )
    await node.until(lambda: node.container("liveness-http").get("restart_count") == 1)
    assert node.events("Unhealthy")[0]["message"] == "Liveness probe failed: HTTP probe failed with statuscode: 500"


async def test_a_tcp_server_becomes_ready_when_it_listens_and_is_restarted_when_it_stops(node: ProcessNode) -> None:
    """goproxy: readiness and liveness by opening a socket."""
    node.apply(
        "goproxy",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: goproxy, labels: {{app: goproxy}}}}
        spec:
          containers:
          - name: goproxy
            command: ["{TARGET}", ":8080", refuse, ok@1, refuse@6]
            ports: [{{containerPort: 8080}}]
            readinessProbe: {{tcpSocket: {{port: 8080}}, initialDelaySeconds: 1, periodSeconds: 1}}
            livenessProbe: {{tcpSocket: {{port: 8080}}, initialDelaySeconds: 3, periodSeconds: 1}}
        """,
    )
    await node.until(lambda: node.pod("goproxy")["ready"])
    await node.until(lambda: not node.pod("goproxy")["ready"])
    await node.until(lambda: node.container("goproxy")["restart_count"])
    await node.until(lambda: node.pod("goproxy")["ready"])
    assert any("connect: connection refused" in event["message"] for event in node.events("Unhealthy"))


async def test_a_startup_probe_covers_the_worst_case_and_liveness_reacts_fast_afterwards(node: ProcessNode) -> None:
    """The page's startup example, with a named port: failureThreshold x periodSeconds to start, then one period."""
    node.apply(
        "slow",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: slow}}
        spec:
          containers:
          - name: app
            command: ["{TARGET}", ":8080", refuse, ok@3, status=500@6]
            ports: [{{name: liveness-port, containerPort: 8080}}]
            livenessProbe:
              httpGet: {{path: /healthz, port: liveness-port}}
              failureThreshold: 1
              periodSeconds: 1
            startupProbe:
              httpGet: {{path: /healthz, port: liveness-port}}
              failureThreshold: 30
              periodSeconds: 1
        """,
    )
    await node.until(lambda: node.container("slow").get("started"))
    assert node.container("slow")["restart_count"] == 0
    await node.until(lambda: node.container("slow")["restart_count"] == 1)
    assert node.events("Killing")[0]["message"] == "Container app failed liveness probe, will be restarted"
    assert [event["count"] for event in node.events("Unhealthy") if "Liveness" in event["message"]] == [1]


async def test_a_startup_probe_that_never_succeeds_kills_the_container_when_its_time_is_over(node: ProcessNode) -> None:
    probe = {"httpGet": {"path": "/", "port": 8080}, "failureThreshold": 3, "periodSeconds": 1}
    node.run("never", {"name": "app", "command": [str(TARGET), ":8080", "refuse"], "startupProbe": probe})
    await node.until(lambda: node.container("never").get("restart_count") == 1)
    assert node.events("Killing")[0]["message"] == "Container app failed startup probe, will be restarted"


async def test_a_probe_level_grace_replaces_the_pods_for_its_own_kills(node: ProcessNode) -> None:
    """The page's probe-level example: an hour for the pod, a minute for the probe; in small."""
    node.apply(
        "graced",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: graced}}
        spec:
          terminationGracePeriodSeconds: 3600
          containers:
          - name: test
            command: ["{TARGET}", ":8080", ok, status=500@1, ignore-term]
            ports: [{{name: liveness-port, containerPort: 8080}}]
            livenessProbe:
              httpGet: {{path: /healthz, port: liveness-port}}
              failureThreshold: 1
              periodSeconds: 1
              terminationGracePeriodSeconds: 2
        """,
    )
    await node.until(lambda: node.container("graced").get("restart_count") == 1)
    assert waited(seconds_between(node.events("Killing")[0]["at"], node.events("Started")[-1]["at"]), 2)


async def test_an_unready_container_is_not_restarted(node: ProcessNode) -> None:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    node.run("unready", {"name": "app", "command": [str(TARGET), ":8080"], "readinessProbe": probe})
    await node.until(
        lambda: (node.container("unready").get("probes") or {}).get("readiness", {}).get("failures", 0) >= 4
    )
    container = node.container("unready")
    assert (container["ready"], container["restart_count"], node.pod("unready")["phase"]) == (False, 0, "Running")
