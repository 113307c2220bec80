"""The pods of the Kubernetes documentation's pages about Jobs and restart policies, as processes of this machine.

Concepts "Jobs" and "Pod Lifecycle" (container restarts, restart rules). A Job's controller is not played here: what
its pods do on the node is.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.system.run.process_node import ProcessNode

pytestmark = pytest.mark.e2e

PI = "from decimal import *; getcontext().prec = 50; print(sum(Decimal(1) / 16**k * (Decimal(4) / (8 * k + 1) \
- Decimal(2) / (8 * k + 4) - Decimal(1) / (8 * k + 5) - Decimal(1) / (8 * k + 6)) for k in range(60)))"


def shell(name: str, script: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": ["sh", "-c", script], **fields}


async def test_the_pi_job_prints_pi_and_completes(node: ProcessNode) -> None:
    pi = {"name": "pi", "command": ["python3", "-c", PI]}
    node.run("pi", pi, restartPolicy="Never")
    await node.until(lambda: node.pod("pi")["phase"] == "Succeeded")
    await node.until(lambda: node.log("pi", "pi"))
    assert node.log("pi", "pi")[0].startswith("3.14159265358979323846264338327950288")
    container = node.container("pi")
    assert (container["state"], container["exit_code"], container["restart_count"]) == ("terminated", 0, 0)
    assert (container["reason"], node.pod("pi")["ready"]) == ("Completed", False)


async def test_under_on_failure_the_container_is_run_again_in_its_pod_until_it_succeeds(
    node: ProcessNode, tmp_path: Path
) -> None:
    """ ".spec.template.spec.restartPolicy = OnFailure: the Pod stays on the node, but the container is re-run."""
    tries = tmp_path / "tries"
    node.run("work", shell("work", f"echo x >> {tries}; test $(wc -l < {tries}) -ge 2"), restartPolicy="OnFailure")
    await node.until(lambda: node.pod("work")["phase"] == "Succeeded")
    assert node.container("work")["restart_count"] == 1
    assert len(await node.client.list_pod_sandbox()) == 1


async def test_under_never_a_failure_is_the_end_of_the_pod(node: ProcessNode) -> None:
    """ "Handling Pod failures": the pod's phase is Failed, and it is for the Job controller to make another."""
    node.run("work", shell("main", "exit 42"), shell("helper", "exit 0"), restartPolicy="Never")
    await node.until(lambda: node.pod("work")["phase"] == "Failed")
    assert node.named("work", "main")["exit_code"] == 42
    assert node.named("work", "helper")["exit_code"] == 0


async def test_a_pod_of_several_containers_runs_until_the_last_of_them_is_done(
    node: ProcessNode, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    long = shell("long", f"until test -e {done}; do sleep 0.1; done")
    node.run("both", shell("short", "exit 0"), long, restartPolicy="Never")
    await node.until(lambda: node.named("both", "short").get("state") == "terminated")
    assert node.pod("both")["phase"] == "Running"
    done.touch()
    await node.until(lambda: node.pod("both")["phase"] == "Succeeded")


async def test_a_liveness_failure_under_never_fails_the_job(node: ProcessNode) -> None:
    """No container is left to run, so the whole pod is killed, and no event names the probe as the reason."""
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    node.run("work", shell("main", "sleep 3600", livenessProbe=probe), restartPolicy="Never")
    await node.until(lambda: node.pod("work")["phase"] == "Failed")
    assert node.events("Unhealthy")[0]["message"].startswith("Liveness probe failed")
    assert [event["message"] for event in node.events("Killing")] == ["Stopping container main"]
    assert node.container("work")["restart_count"] == 0


# "Individual container restart policy and rules".


async def test_an_init_container_that_may_try_only_once(node: ProcessNode) -> None:
    """The pod restarts its containers always; its init container has a policy of its own and fails the pod."""
    init = shell("init-once", "echo trying once; exit 1", restartPolicy="Never")
    node.run("on-failure", shell("main", "sleep 3600"), initContainers=[init], restartPolicy="Always")
    await node.until(lambda: node.pod("on-failure")["phase"] == "Failed")
    assert node.named("on-failure", "init-once")["restart_count"] == 0
    await node.until(lambda: node.log("on-failure", "init-once") == ["trying once"])


async def test_a_container_is_restarted_on_certain_exit_codes_only(node: ProcessNode, tmp_path: Path) -> None:
    """restart-on-exit-codes: 42 restarts the container, every other code is final."""
    tries = tmp_path / "tries"
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    script = f"echo x >> {tries}; test $(wc -l < {tries}) -ge 2 && exit 1; exit 42"
    main = shell("main-container", script, restartPolicy="Never", restartPolicyRules=rules)
    node.run("restart-on-exit-codes", main, restartPolicy="Never")
    await node.until(lambda: node.pod("restart-on-exit-codes")["phase"] == "Failed")
    container = node.container("restart-on-exit-codes")
    assert (container["exit_code"], container["restart_count"]) == (1, 1)
    assert container["last_exit"]["exit_code"] == 42


async def test_a_watcher_restarts_all_containers_of_its_pod_in_place(node: ProcessNode, tmp_path: Path) -> None:
    """ "Restart all containers": the watcher exits with 88, everything begins anew, init containers included."""
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}]
    again = tmp_path / "again"
    node.run(
        "training",
        shell("main-application", f"cat {tmp_path}/setup; exec sleep 3600"),
        initContainers=[
            shell("setup-environment", f"echo fresh >> {tmp_path}/setup"),
            shell(
                "watcher-sidecar",
                f"until test -e {again}; do sleep 0.1; done; rm {again}; exit 88",
                restartPolicy="Always",
                restartPolicyRules=rules,
            ),
        ],
        restartPolicy="Never",
    )
    await node.until(lambda: node.pod("training")["ready"])
    ip, uid = node.pod("training")["ip"], node.pod("training")["uid"]
    again.touch()
    await node.until(
        lambda: node.pod("training")["ready"] and node.named("training", "main-application")["restart_count"]
    )
    assert (node.pod("training")["ip"], node.pod("training")["uid"]) == (ip, uid)
    assert {row["name"]: row["restart_count"] for row in node.pod("training")["containers"]} == {
        "setup-environment": 1,
        "watcher-sidecar": 1,
        "main-application": 1,
    }
    await node.until(lambda: node.log("training", "main-application", 1) == ["fresh", "fresh"])
    assert node.named("training", "main-application")["last_exit"]["reason"] == "RestartingAllContainers"
    assert b'reason="restart_all_containers",grace_source="override"' in node.service.view.metrics()


async def test_a_pod_that_was_active_for_too_long_fails_and_is_not_run_again(node: ProcessNode) -> None:
    """ "Once a Job reaches activeDeadlineSeconds, all of its running Pods are terminated": here it is the pod's own."""
    node.run("slow", shell("slow", "trap 'exit 0' TERM; sleep 86400 & wait"), activeDeadlineSeconds=1)
    await node.until(lambda: node.container("slow")["state"] == "terminated")
    pod = node.pod("slow")
    assert (pod["phase"], pod["reason"]) == ("Failed", "DeadlineExceeded")
    assert pod["message"] == "Pod was active on the node longer than the specified deadline"
    assert node.container("slow")["restart_count"] == 0
