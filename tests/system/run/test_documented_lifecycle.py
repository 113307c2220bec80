"""The pods of the Kubernetes documentation's pages about hooks and the end of a pod, as processes of this machine.

Tasks "Attach Handlers to Container Lifecycle Events", concepts "Container Lifecycle Hooks" and "Pod Lifecycle".
"""

import time
from pathlib import Path

import pytest

from tests.system.run.process_node import TARGET, ProcessNode, waited

pytestmark = pytest.mark.e2e

WAIT_FOR_TERM = "trap 'exit 0' TERM; sleep 86400 & wait"


async def test_the_demo_of_both_hooks(node: ProcessNode, tmp_path: Path) -> None:
    """lifecycle-demo: postStart writes a message, preStop shuts a server down that ignores SIGTERM."""
    pid, quit_ = tmp_path / "pid", tmp_path / "quit"
    node.apply(
        "lifecycle-demo",
        f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: lifecycle-demo}}
        spec:
          containers:
          - name: server
            # Two dollars are one to the shell: $(VAR) is expanded in commands.
            command:
            - sh
            - -c
            - "trap '' TERM; trap 'touch {quit_}; exit 0' QUIT; echo $$$$ > {pid}; sleep 86400 & wait"
            lifecycle:
              postStart:
                exec:
                  command: [sh, -c, "echo Hello from the postStart handler > {tmp_path}/message"]
              preStop:
                exec:
                  command: [sh, -c, "kill -QUIT $(cat {pid}); while kill -0 $(cat {pid}); do sleep 0.1; done"]
        """,
    )
    await node.until(lambda: node.pod("lifecycle-demo")["ready"] and pid.exists() and pid.read_text())
    assert (tmp_path / "message").read_text() == "Hello from the postStart handler\n"
    node.remove("lifecycle-demo")
    await node.until(lambda: not node.pod("lifecycle-demo")["phase"])
    assert quit_.exists(), "ended by its hook"


async def test_a_container_is_not_running_before_its_post_start_hook_is_done(node: ProcessNode, tmp_path: Path) -> None:
    """ "If the hook takes too long to run, the container cannot reach a running state."""
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    done = tmp_path / "done"
    hook = {"postStart": {"exec": {"command": ["sh", "-c", f"until test -e {done}; do sleep 0.1; done"]}}}
    node.run(
        "slow",
        {"name": "first", "command": [str(TARGET), ":8080"], "lifecycle": hook, "readinessProbe": probe},
        {"name": "second", "command": [str(TARGET), ":8081"]},
    )
    await node.until(lambda: node.events("Started", "first"))
    assert node.named("slow", "first")["state"] == "waiting"
    assert node.events("Started", "second") == [], "it has its turn after the hook"
    done.touch()
    await node.until(lambda: node.pod("slow")["ready"])


async def test_a_broken_post_start_hook_is_an_event_and_kills_the_container(node: ProcessNode) -> None:
    """The page's "badcommand": FailedPostStartHook, Killing, and back-off after the second time."""
    hook = {"postStart": {"exec": {"command": ["badcommand"]}}}
    node.run("lifecycle-events", {"name": "app", "command": ["sh", "-c", WAIT_FOR_TERM], "lifecycle": hook})
    await node.until(lambda: node.container("lifecycle-events").get("reason") == "CrashLoopBackOff")
    assert node.events("FailedPostStartHook")[0]["message"] == "PostStartHook failed"
    assert node.events("FailedPostStartHook")[0]["type"] == "Warning"
    assert node.events("Killing")[0]["message"] == "FailedPostStartHook"
    assert node.container("lifecycle-events")["restart_count"] == 1


async def test_a_broken_pre_stop_hook_is_an_event_and_the_container_ends_all_the_same(node: ProcessNode) -> None:
    hook = {"preStop": {"exec": {"command": ["badcommand"]}}}
    node.run("web", {"name": "app", "command": ["sh", "-c", WAIT_FOR_TERM], "lifecycle": hook})
    await node.until(lambda: node.pod("web")["ready"])
    node.remove("web")
    await node.until(lambda: not node.pod("web")["phase"])
    (failed,) = node.events("FailedPreStopHook")
    assert (failed["type"], failed["message"]) == ("Warning", "PreStopHook failed")
    assert failed["field_path"] == "spec.containers{app}"


async def test_hook_and_stop_together_have_one_grace(node: ProcessNode) -> None:
    """The page's 60 s with a hook of 55 and a stop of 10, in small: the container is killed before it can stop."""
    script = "trap 'sleep 3600; exit 0' TERM; echo trapped; sleep 86400 & wait"
    hook = {"preStop": {"exec": {"command": ["sleep", "2"]}}}
    node.run(
        "late", {"name": "app", "command": ["sh", "-c", script], "lifecycle": hook}, terminationGracePeriodSeconds=4
    )
    await node.until(lambda: node.pod("late")["ready"] and node.log("late", "app") == ["trapped"])
    begun = time.monotonic()
    node.remove("late")
    await node.until(lambda: not node.pod("late")["phase"])
    assert waited(time.monotonic() - begun, 4)


async def test_a_hanging_pre_stop_hook_costs_the_whole_grace_and_two_seconds(node: ProcessNode) -> None:
    """ "The grace period expires while the preStop hook still runs: a one-off extension of two seconds."""
    script = "trap '' TERM; echo trapped; sleep 86400; :"
    hook = {"preStop": {"exec": {"command": ["sleep", "3600"]}}}
    node.run(
        "hung", {"name": "app", "command": ["sh", "-c", script], "lifecycle": hook}, terminationGracePeriodSeconds=1
    )
    await node.until(lambda: node.pod("hung")["ready"] and node.log("hung", "app") == ["trapped"])
    begun = time.monotonic()
    node.remove("hung")
    await node.until(lambda: not node.pod("hung")["phase"])
    assert waited(time.monotonic() - begun, 3)
    await node.until(lambda: node.events("FailedPreStopHook"))


async def test_a_sleeping_pre_stop_hook_keeps_an_endpoint_serving(node: ProcessNode) -> None:
    """The sleep action: the pod keeps answering while its clients notice its end."""
    hook = {"preStop": {"sleep": {"seconds": 3}}}
    probe = {"httpGet": {"port": 8080}, "periodSeconds": 1}
    node.run("web", {"name": "app", "command": [str(TARGET), ":8080"], "lifecycle": hook, "readinessProbe": probe})
    await node.until(lambda: node.pod("web")["ready"])
    begun = time.monotonic()
    node.remove("web")
    await node.until(lambda: node.events("Killing"))
    assert node.pod("web")["ready"], "the hook has begun"
    await node.until(lambda: not node.pod("web")["phase"])
    assert waited(time.monotonic() - begun, 3)


async def test_http_hooks_reach_the_container_by_its_named_port(node: ProcessNode) -> None:
    """The container itself answers the HTTP hooks; the answer does not matter."""
    server = {
        "name": "app",
        "command": ["python3", "-u", "-m", "http.server", "8080", "--bind", "$(POD_IP)"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1},
        "lifecycle": {"preStop": {"httpGet": {"path": "/shut-down", "port": "http"}}},
    }
    node.run("web", server)
    await node.until(lambda: node.pod("web")["ready"])
    (path,) = node.logs.glob("default_web_*/app/0.log")
    with path.open() as printed:
        node.remove("web")
        await node.until(lambda: not node.pod("web")["phase"])
        # The log is removed with its pod, but the open file stays readable.
        assert '"GET /shut-down HTTP/1.1" 404' in printed.read()
    assert node.events("FailedPreStopHook") == []
