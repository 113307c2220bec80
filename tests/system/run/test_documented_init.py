"""The pods of the Kubernetes documentation's pages about init containers, as processes of this machine.

Concepts "Init Containers", tasks "Configure Pod Initialization" and "Debug Init Containers". Services and volumes are
files in a directory here.
"""

import asyncio
import urllib.request
from pathlib import Path

import pytest

from tests.system.run.process_node import TARGET, ProcessNode

pytestmark = pytest.mark.e2e


def page(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


async def test_the_app_starts_when_both_services_it_needs_are_there(node: ProcessNode, tmp_path: Path) -> None:
    """Each init container waits for a service; until then the pod is Pending and the app is PodInitializing."""
    node.apply(
        "myapp",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: myapp, labels: {{app.kubernetes.io/name: MyApp}}}}
        spec:
          containers:
          - name: myapp-container
            command: [sh, -c, 'echo The app is running! && sleep 3600']
          initContainers:
          - name: init-myservice
            command: [sh, -c, "until test -e {tmp_path}/myservice; do echo waiting for myservice; sleep 0.2; done"]
          - name: init-mydb
            command: [sh, -c, "until test -e {tmp_path}/mydb; do echo waiting for mydb; sleep 0.2; done"]
        """,
    )
    await node.until(lambda: node.named("myapp", "init-myservice").get("state") == "running")
    assert node.pod("myapp")["phase"] == "Pending"
    for waiting in ("init-mydb", "myapp-container"):
        assert (node.named("myapp", waiting)["state"], node.named("myapp", waiting)["reason"]) == (
            "waiting",
            "PodInitializing",
        )
    await node.until(lambda: "waiting for myservice" in node.log("myapp", "init-myservice"))
    (tmp_path / "myservice").touch()
    await node.until(lambda: node.named("myapp", "init-mydb")["state"] == "running")
    assert node.named("myapp", "init-myservice")["reason"] == "Completed"
    assert node.named("myapp", "myapp-container")["state"] == "waiting"
    (tmp_path / "mydb").touch()
    await node.until(lambda: node.pod("myapp")["phase"] == "Running")
    await node.until(lambda: node.log("myapp", "myapp-container") == ["The app is running!"])
    assert [event["field_path"] for event in node.events("Started")] == [
        "spec.initContainers{init-myservice}",
        "spec.initContainers{init-mydb}",
        "spec.containers{myapp-container}",
    ]


async def test_an_init_container_prepares_the_page_that_the_server_shows(node: ProcessNode, tmp_path: Path) -> None:
    """init-demo: the init container fetches a page into the volume it shares with the web server."""
    node.apply(
        "init-demo",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: init-demo}}
        spec:
          containers:
          - name: nginx
            command: [python3, -m, http.server, "8080", --bind, $(POD_IP), --directory, "{tmp_path}/work-dir"]
            ports: [{{containerPort: 8080, name: http}}]
            readinessProbe: {{httpGet: {{port: http}}, periodSeconds: 1}}
          initContainers:
          - name: install
            command: [sh, -c, "mkdir {tmp_path}/work-dir && echo Example Domain > {tmp_path}/work-dir/index.html"]
        """,
    )
    await node.until(lambda: node.pod("init-demo")["ready"])
    assert await asyncio.to_thread(page, f"http://{node.pod('init-demo')['ip']}:8080/") == b"Example Domain\n"


async def test_a_failing_init_container_is_tried_until_it_succeeds(node: ProcessNode, tmp_path: Path) -> None:
    """ "If a Pod's init container fails, the kubelet repeatedly restarts that init container until it succeeds."""
    script = f"echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) -ge 2"
    node.run(
        "stubborn",
        {"name": "app", "command": [str(TARGET), ":8080"]},
        initContainers=[{"name": "setup", "command": ["sh", "-c", script]}],
        restartPolicy="OnFailure",
    )
    await node.until(lambda: node.pod("stubborn")["phase"] == "Running")
    assert node.named("stubborn", "setup")["restart_count"] == 1
    assert node.named("stubborn", "setup")["state"] == "terminated"


async def test_an_init_container_in_back_off_shows_as_such(node: ProcessNode) -> None:
    """Init:CrashLoopBackOff of "Debug Init Containers"."""
    node.run(
        "debug",
        {"name": "app", "command": [str(TARGET), ":8080"]},
        initContainers=[{"name": "setup", "command": ["sh", "-c", "echo cannot reach db; exit 1"]}],
    )
    await node.until(lambda: node.named("debug", "setup").get("reason") == "CrashLoopBackOff")
    assert node.pod("debug")["phase"] == "Pending"
    assert node.named("debug", "setup")["last_exit"]["exit_code"] == 1
    await node.until(lambda: node.log("debug", "setup", 1) == ["cannot reach db"])


async def test_under_never_a_failing_init_container_fails_the_whole_pod(node: ProcessNode) -> None:
    node.run(
        "once",
        {"name": "app", "command": [str(TARGET), ":8080"]},
        initContainers=[{"name": "setup", "command": ["sh", "-c", "exit 3"]}],
        restartPolicy="Never",
    )
    await node.until(lambda: node.pod("once")["phase"] == "Failed")
    assert node.named("once", "setup")["exit_code"] == 3
    assert node.named("once", "app")["reason"] == "PodInitializing"
    assert node.events("Started", "app") == []
