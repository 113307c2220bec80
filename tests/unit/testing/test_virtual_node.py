"""The public API for tests of probe configurations."""

from pathlib import Path
from typing import Any

import pytest
from probelet.testing import AnswerError, Kill, VirtualNode

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    command: [server]
    livenessProbe: {httpGet: {port: 8080}, periodSeconds: 10, failureThreshold: 3}
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 5, failureThreshold: 1}
    startupProbe: {exec: {command: [ready]}, periodSeconds: 2, failureThreshold: 5}
"""


@pytest.fixture
def node(tmp_path: Path) -> VirtualNode:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    return VirtualNode(manifest)


def test_a_pod_whose_probes_answer_well_is_ready_and_never_killed(node: VirtualNode) -> None:
    node.run("1h")
    assert node.ready("web")
    assert node.kills == []
    assert {attempt.outcome for attempt in node.attempts} == {"success"}


def test_three_liveness_failures_kill_and_the_container_comes_back(node: VirtualNode) -> None:
    node.run("30s")
    node.answer("web/app/liveness", "failure: deadlock * 3", "success")
    node.run("1m")
    assert [kill.container for kill in node.kills] == ["web/app"]
    assert node.restarts("web/app") == 1
    unhealthy = [event.message for event in node.events if event.reason == "Unhealthy"]
    assert unhealthy == ["Liveness probe failed: deadlock"] * 3
    assert node.ready("web")


def test_a_startup_that_takes_too_long_is_a_kill_by_the_startup_probe(node: VirtualNode) -> None:
    node.answer("web/app/startup", "failure")
    node.run("9s")
    assert node.kills == [Kill(at=8.002, container="web/app", probe_type="startup")]
    assert not node.started("web/app")


def test_readiness_is_lost_and_regained_without_a_kill(node: VirtualNode) -> None:
    node.run("10s")
    node.answer("web/app/readiness", "failure * 2", "success")
    node.run("6s")
    assert node.ready("web")
    assert node.kills == []
    assert [event.reason for event in node.events if event.type == "Warning"] == ["Unhealthy", "Unhealthy"]


def test_a_crashed_container_is_not_ready_until_it_runs_again(node: VirtualNode) -> None:
    node.run("10s")
    node.crash("web/app")
    assert not node.ready("web")
    node.start("web/app")
    node.run("10s")
    assert node.ready("web")
    assert node.result("web/app/liveness") == "Success"


def test_an_error_about_an_unknown_name_lists_the_known_ones(node: VirtualNode, tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match=r"'web/app/live': no such probe; there are web/app/liveness, "):
        node.answer("web/app/live", "success")
    with pytest.raises(AnswerError, match="'sometimes': must be success, failure, error, timeout or hang"):
        node.answer("web/app/liveness", "sometimes")
    with pytest.raises(AnswerError, match="'db/app': no such container; there are web/app"):
        node.crash("db/app")
    broken = tmp_path / "broken.yaml"
    broken.write_text(POD.replace("periodSeconds: 10", "periodSeconds: -1"))
    with pytest.raises(ValueError, match="must be greater than or equal to 0"):
        VirtualNode(broken)


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: app
        livenessProbe: {tcpSocket: {port: 80}, failureThreshold: 1}
"""


def test_a_workload_is_one_pod_or_as_many_as_it_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(DEPLOYMENT)
    one = VirtualNode(path)
    one.answer("shop/app/liveness", "failure")
    one.run("1s")
    assert [kill.container for kill in one.kills] == ["shop/app"]
    two = VirtualNode(path, replicas=True)
    two.run("1s")
    assert two.workers == ["shop-0/app/liveness", "shop-1/app/liveness"]


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (
            {"httpGet": {"port": "web", "path": "/up"}},
            'Get "http://{ip}:8080/up": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        ),
        ({"tcpSocket": {"port": 6379}}, "dial tcp {ip}:6379: i/o timeout"),
        ({"tcpSocket": {"port": 6379, "host": "::1"}}, "dial tcp [::1]:6379: i/o timeout"),
        (
            {"grpc": {"port": 9000}},
            'timeout: failed to connect service "{ip}:9000" within 2s: context deadline exceeded',
        ),
        ({"exec": {"command": ["cat", "/ok"]}}, 'command timed out: "cat /ok" timed out after 2s'),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_timeout_has_the_kubelets_words_for_its_handler(handler: dict[str, Any], message: str) -> None:
    container = {
        "name": "app",
        "ports": [{"name": "web", "containerPort": 8080}],
        "livenessProbe": {**handler, "timeoutSeconds": 2},
    }
    node = VirtualNode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}}
    )
    node.answer("web/app/liveness", "timeout", "success")
    node.run("30s")
    (event,) = [event for event in node.events if event.reason == "Unhealthy"]
    assert event.message == "Liveness probe failed: " + message.format(ip="10.0.0.1")
