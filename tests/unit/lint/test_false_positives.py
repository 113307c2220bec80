"""What people's manifests have taught: a finding that was wrong there, beside one that is right."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.unit.lint.linted import of_rule, only, report

HTTP = {"httpGet": {"path": "/healthz", "port": 8080}}


def found(folder: Path, rule: str, *objects: dict[str, Any]) -> list[tuple[str, str]]:
    """Severity and message of the findings of one rule."""
    text = "\n---\n".join(msgspec.json.encode(each).decode() for each in objects)
    return [(each.severity, each.message) for each in of_rule(report(folder, text, only(rule)).findings, rule)]


def deployment(spec: dict[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "i:1", **container}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **(spec or {})},
    }


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
}


@pytest.mark.parametrize(
    ("handler", "severity", "word"),
    [
        (HTTP, "error", "hangs"),
        ({"grpc": {"port": 8080}}, "error", "hangs"),
        # The kernel accepts connections for a server that hangs, and nobody knows what the script asks.
        ({"tcpSocket": {"port": 8080}}, "warning", "fails both probes"),
        ({"exec": {"command": ["/live.sh"]}}, "warning", "fails both probes"),
        ({"exec": {"command": ["sh", "-c", "curl -sf http://localhost:8080/ || exit 1"]}}, "error", "hangs"),
        ({"exec": {"command": ["grpc_health_probe", "-addr=:8080"]}}, "error", "hangs"),
    ],
)
def test_a_kill_before_unreadiness_is_certain_only_if_the_server_answers(
    tmp_path: Path, handler: dict[str, Any], severity: str, word: str
) -> None:
    pod = deployment(livenessProbe=handler, readinessProbe={**HTTP, "failureThreshold": 10})
    ((level, message),) = found(tmp_path, "PL203", pod)
    assert (level, word in message) == (severity, True)


def test_a_pod_without_a_service_gets_no_requests(tmp_path: Path) -> None:
    pod = deployment(livenessProbe=HTTP, readinessProbe={**HTTP, "failureThreshold": 10})
    assert "it counts as ready until the kill" in found(tmp_path, "PL203", pod)[0][1]
    assert "it gets requests until the kill" in found(tmp_path, "PL203", pod, SERVICE)[0][1]


def test_a_kill_before_unreadiness_is_no_error_without_a_client(tmp_path: Path) -> None:
    pod = deployment(livenessProbe=HTTP, readinessProbe={**HTTP, "failureThreshold": 10})
    agent = {**pod, "kind": "DaemonSet"}
    other = {**SERVICE, "metadata": {"name": "db"}, "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]}}
    assert [level for level, _ in found(tmp_path, "PL203", pod)] == ["error"]
    assert [level for level, _ in found(tmp_path, "PL203", agent)] == ["warning"]
    assert [level for level, _ in found(tmp_path, "PL203", pod, other)] == ["warning"]
    assert [level for level, _ in found(tmp_path, "PL203", agent, SERVICE)] == ["error"]


@pytest.mark.parametrize(("services", "count"), [((), 0), ((SERVICE,), 1)])
def test_a_job_has_no_clients_unless_a_service_selects_its_pods(
    tmp_path: Path, services: tuple[dict[str, Any], ...], count: int
) -> None:
    template = deployment(livenessProbe=HTTP, readinessProbe=HTTP)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "load"}, "spec": {"template": template}}
    assert len(found(tmp_path, "PL202", job, *services)) == count


@pytest.mark.parametrize(("strategy", "count"), [({"type": "Recreate"}, 0), ({"type": "RollingUpdate"}, 1), (None, 1)])
def test_a_recreated_deployment_does_not_go_on_after_min_ready_seconds(
    tmp_path: Path, strategy: dict[str, str] | None, count: int
) -> None:
    spec = {"minReadySeconds": 10, "strategy": strategy}
    assert len(found(tmp_path, "PL512", deployment(spec, readinessProbe=HTTP))) == count


@pytest.mark.parametrize(
    ("ports", "count"),
    [
        ([], 1),
        ([{"containerPort": 8080}], 1),
        ([{"containerPort": 8080, "name": "health"}], 0),
        # A collector declares the ports of its clients, and not that of its health server.
        ([{"containerPort": 4317}], 0),
    ],
)
def test_the_root_of_a_port_of_its_own_is_no_page(tmp_path: Path, ports: list[dict[str, Any]], count: int) -> None:
    pod = deployment(ports=ports, livenessProbe={"httpGet": {"path": "/", "port": 8080}})
    outside = {**SERVICE, "spec": {**SERVICE["spec"], "type": "LoadBalancer"}}
    assert len(found(tmp_path, "PL410", outside, pod)) == count
    # Within the cluster it is mostly the status of an API.
    assert found(tmp_path, "PL410", SERVICE, pod) == []


@pytest.mark.parametrize(("command", "count"), [(["cat", "/proc/1/status"], 0), (["cat", "/tmp/alive"], 1)])
def test_two_probes_that_cannot_fail_do_not_kill_what_they_take_out_of_service(
    tmp_path: Path, command: list[str], count: int
) -> None:
    probe = {"exec": {"command": command}}
    assert len(found(tmp_path, "PL202", deployment(livenessProbe=probe, readinessProbe=probe))) == count


@pytest.mark.parametrize(("rule", "count"), [("PL101", 1), ("PL102", 0), ("PL104", 0)])
def test_a_thorough_check_is_suspected_and_nothing_is_built_upon_it(tmp_path: Path, rule: str, count: int) -> None:
    probe = {"httpGet": {"path": "/healthz?full=true", "port": 8080}}
    assert len(found(tmp_path, rule, deployment({"replicas": 3}, readinessProbe=probe), SERVICE)) == count


def test_a_host_with_the_name_of_the_workload_is_its_own_service(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["pg_isready", "-h", "web"]}}
    ((severity, message),) = found(tmp_path, "PL201", deployment(livenessProbe=probe))
    assert severity == "warning"
    assert "by its name is the Service in front of these pods" in message
    other = {"exec": {"command": ["pg_isready", "-h", "orders"]}}
    assert found(tmp_path, "PL201", deployment(livenessProbe=other))[0][0] == "error"


@pytest.mark.parametrize(("end", "count"), [("|| exit 1", 1), ("|| exit 0", 0), ("|| true", 0)])
def test_a_dependency_whose_failure_the_shell_swallows_kills_nothing(tmp_path: Path, end: str, count: int) -> None:
    probe = {"exec": {"command": ["sh", "-c", f"curl -sf http://orders:8080/healthz {end}"]}}
    assert len(found(tmp_path, "PL201", deployment(livenessProbe=probe))) == count


def test_a_command_in_one_word_says_what_depends_on_the_runtime(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["curl -f http://localhost/"]}}
    liveness = found(tmp_path, "PL519", deployment(livenessProbe=probe))[0][1]
    assert "with containerd this is an error that counts for nothing" in liveness
    assert "the container is killed" in liveness
    assert found(tmp_path, "PL519", deployment(readinessProbe=probe))[0][1].endswith("the pod is never ready")


def test_pg_isready_is_no_endpoint_of_readiness(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["/usr/bin/pg_isready", "-U", "web"]}}
    assert found(tmp_path, "PL209", deployment(livenessProbe=probe)) == []
    assert found(tmp_path, "PL209", deployment(livenessProbe={"exec": {"command": ["/app/is-ready"]}})) != []


def test_the_name_that_helm_gives_a_release_without_one_is_a_placeholder(tmp_path: Path) -> None:
    pod = deployment()
    pod["metadata"]["name"] = "RELEASE-NAME-web"
    assert [level for level, _ in found(tmp_path, "PL002", pod)] == ["warning"]
    assert found(tmp_path, "PL004", pod) == []


def test_an_anchor_that_several_probes_share_is_one_finding(tmp_path: Path) -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: i:1
      livenessProbe: &probe
        httpGet: {path: /livez, port: 80, httpHeaders: [{name: Authorization, value: Bearer abcdefabcdef}]}
      readinessProbe: *probe
"""
    assert len(of_rule(report(tmp_path, text.lstrip(), only("PL409")).findings, "PL409")) == 1


def test_a_service_of_several_workloads_has_pods_left(tmp_path: Path) -> None:
    pod = deployment({"strategy": {"type": "Recreate"}}, livenessProbe=HTTP)
    ((_, message),) = found(tmp_path, "PL507", SERVICE, pod)
    assert "Service web has no pod" in message
    other = {**pod, "metadata": {"name": "other"}, "spec": {**pod["spec"], "replicas": 3}}
    assert found(tmp_path, "PL507", SERVICE, pod, other) == []
    own = {**SERVICE, "metadata": {"name": "own"}, "spec": {**SERVICE["spec"], "selector": {"part": "web"}}}
    pod["spec"]["template"]["metadata"]["labels"] = {"app": "web", "part": "web"}
    ((_, message),) = found(tmp_path, "PL507", SERVICE, own, pod, deployment({"replicas": 3}))
    assert "Service own has no pod" in message


@pytest.mark.parametrize(
    ("template", "count"),
    [
        ({"volumes": [{"name": "c", "configMap": {"name": "proxy"}}]}, 0),
        ({"volumes": [{"name": "c", "projected": {"sources": [{"configMap": {"name": "proxy"}}]}}]}, 0),
        ({"volumes": [{"name": "c", "configMap": {"name": "other"}}]}, 1),
        ({"volumes": ["c", {"name": "c", "projected": {"sources": [1]}}, {"configMap": {}}]}, 1),
        ({}, 1),
    ],
)
def test_a_port_of_the_configuration_is_no_forgotten_one(template: dict[str, Any], count: int, tmp_path: Path) -> None:
    probe = {"httpGet": {"path": "/", "port": 9000}}
    pod = deployment(ports=[{"containerPort": 8443}], readinessProbe=probe)
    pod["spec"]["template"]["spec"] |= template
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "proxy"}, "data": {"p.cfg": "bind *:9000"}}
    assert len(found(tmp_path, "PL420", config, pod)) == count


def test_a_port_of_a_variable_from_a_config_map_is_no_forgotten_one(tmp_path: Path) -> None:
    variables = [{"configMapRef": {"name": "proxy"}}, {"secretRef": {"name": "s"}}]
    probe = {"httpGet": {"path": "/", "port": 9000}}
    pod = deployment(ports=[{"containerPort": 8443}], readinessProbe=probe, envFrom=variables)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "proxy"}, "data": {"PORT": "9000"}}
    assert len(found(tmp_path, "PL420", pod)) == 1
    assert found(tmp_path, "PL420", config, pod) == []
