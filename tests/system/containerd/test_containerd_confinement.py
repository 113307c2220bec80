"""Containers on a containerd are as confined as a kubelet's, and a pod that cannot be is not run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.system.containerd.image import NAMED
from tests.system.containerd.machine import Containerd
from tests.system.containerd.node import ContainerdNode
from tests.system.containerd.security_contexts import ROWS, facts, sandbox_facts

pytestmark = pytest.mark.e2e

SLEEP = ["sleep", "1000"]


def spec_of(containerd: Containerd, container_id: str) -> dict[str, Any]:
    """The OCI specification of a container or a sandbox."""
    found: dict[str, Any] = json.loads(containerd.ctr("containers", "info", container_id))["Spec"]
    return found


def test_the_oci_specification_of_each_context_is_a_kubelets(containerd: Containerd, node: ContainerdNode) -> None:
    for row in ROWS:
        node.run(row.name, {"name": "app", "command": SLEEP, **row.container}, **row.pod)
    node.start()
    node.until(lambda: all(node.container(row.name)["state"] == "running" for row in ROWS), "running containers")
    ids = {name: pod["containers"][0]["container_id"].rpartition("/")[2] for name, pod in node.pods().items()}
    floor = int(Path(f"/proc/{containerd.pid}/oom_score_adj").read_text())
    found = {row.name: facts(spec_of(containerd, ids[row.name]), oom_floor=floor) for row in ROWS}
    assert found == {row.name: row.expected for row in ROWS}

    sandboxes = {box.metadata.name: sandbox_facts(spec_of(containerd, box.id)) for box in node.sandboxes()}
    assert sandboxes == {row.name: row.expected_sandbox for row in ROWS}


ATTACK = """
for name in kernel/panic kernel/core_pattern vm/overcommit_memory; do
  # Its own value, so that a hole does this machine no harm.
  value=$(cat /proc/sys/$name)
  if echo "$value" > /proc/sys/$name; then echo "wrote $name"; fi
done
for name in timer_list kcore keys interrupts sched_debug; do
  if [ -e /proc/$name ] && [ "$(head -c 1 /proc/$name | wc -c)" != 0 ]; then echo "read $name"; fi
done
if [ -n "$(ls /sys/firmware)" ]; then echo "read firmware"; fi
if echo h > /proc/sysrq-trigger; then echo "wrote sysrq-trigger"; fi
"""


def test_root_in_a_container_changes_and_reads_nothing_of_the_machine(node: ContainerdNode) -> None:
    script = ["sh", "-c", f"({ATTACK}) 2> /dev/null"]
    probe = {"exec": {"command": ["sh", "-c", f'found=$({ATTACK}); [ -z "$found" ] || {{ echo "$found"; exit 1; }}']}}
    node.run(
        "web",
        {"name": "app", "command": ["sh", "-c", f"({ATTACK}) 2> /dev/null; exec sleep 1000"], "readinessProbe": probe},
        init=[{"name": "setup", "command": script}],
    )
    node.start()
    node.until(lambda: node.pod("web")["ready"] or node.events("Unhealthy"), "a probe")
    assert node.log("web", "setup") == []
    assert node.log("web") == []
    assert node.pod("web")["ready"], node.events("Unhealthy")


def test_a_container_that_may_not_be_root_is_not_created_as_root(node: ContainerdNode) -> None:
    non_root = {"securityContext": {"runAsNonRoot": True}}
    node.run("root", {"name": "app", "command": SLEEP}, **non_root)
    node.run("named", {"name": "app", "image": NAMED, "command": SLEEP}, **non_root)
    node.run("asked", {"name": "app", "command": SLEEP, "securityContext": {"runAsUser": 0}}, **non_root)
    node.start()
    reason = "CreateContainerConfigError"
    node.until(lambda: all(node.container(name)["reason"] == reason for name in ("root", "named", "asked")), reason)
    messages = {
        "root": "container has runAsNonRoot and image will run as root",
        "named": "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root",
        "asked": "container's runAsUser breaks non-root policy",
    }
    for name, text in messages.items():
        uid = node.pod(name)["uid"]
        assert node.container(name)["message"] == f'{text} (pod: "{name}_default({uid})", container: app)'
    made = {found.pod_sandbox_id for found in node.containerd.containers()}
    assert made.isdisjoint(box.id for box in node.sandboxes())


def test_a_profile_that_is_missing_keeps_its_container_from_starting(node: ContainerdNode) -> None:
    profile = {"type": "Localhost", "localhostProfile": "probelet-tests/no-such.json"}
    node.run("web", {"name": "app", "command": SLEEP, "securityContext": {"seccompProfile": profile}})
    node.start()
    node.until(lambda: node.container("web")["reason"] == "CreateContainerError", "a refusal")
    assert "/var/lib/kubelet/seccomp/probelet-tests/no-such.json" in node.container("web")["message"]


def test_strict_groups_need_a_runtime_that_has_them(containerd: Containerd, node: ContainerdNode) -> None:
    node.run("web", {"name": "app", "command": SLEEP}, securityContext={"supplementalGroupsPolicy": "Strict"})
    node.start()
    if containerd.version().startswith("1."):
        node.until(lambda: node.events("FailedCreatePodSandBox"), "a refusal")
        (message,) = node.events("FailedCreatePodSandBox")
        assert message == "Failed to create pod sandbox: SupplementalGroupsPolicy=Strict is not supported in this node"
        assert node.sandboxes() == []
    else:
        node.until(lambda: node.pod("web")["ready"], "a ready pod")
