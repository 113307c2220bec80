"""Gates that switch off fields, and the behaviour of pods that set these fields."""

from pathlib import Path

import pytest

from tests.system.cli.conftest import Start, wait_for

pytestmark = pytest.mark.e2e

HUNG = """
apiVersion: v1
kind: Pod
metadata: {name: hung}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: app
    command: [sh, -c, "trap '' TERM; sleep 86400; :"]
    livenessProbe:
      exec: {command: ["false"]}
      periodSeconds: 1
      failureThreshold: 1
      terminationGracePeriodSeconds: 3600
"""

RULED = """
apiVersion: v1
kind: Pod
metadata: {name: ruled}
spec:
  restartPolicy: Never
  containers:
  - name: app
    command: [sh, -c, "exit 42"]
    restartPolicy: Never
    restartPolicyRules:
    - {action: Restart, exitCodes: {operator: In, values: [42]}}
"""


def test_without_probe_level_grace_a_hung_container_gets_the_pods_grace(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(HUNG)
    run = start(str(tmp_path / "pod.yaml"), "--feature-gates", "ProbeTerminationGracePeriod=false")
    killing = run.line("killing container")
    assert (killing["reason"], killing["grace_seconds"], killing["grace_source"]) == ("liveness", 2, "pod")
    wait_for(lambda: run.status()["hung"]["containers"][0]["restart_count"], "a restart within the pod's grace")


def test_without_restart_rules_the_pods_policy_decides(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(RULED)
    off = "ContainerRestartRules=false,RestartAllContainersOnContainerExits=false"
    run = start(str(tmp_path / "pod.yaml"), "--feature-gates", off)
    run.line("listening")
    wait_for(lambda: run.status()["ruled"]["phase"] == "Failed", "the pod to fail at its first exit")
    assert run.status()["ruled"]["containers"][0]["restart_count"] == 0
