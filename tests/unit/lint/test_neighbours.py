"""Which objects belong to a workload, and which are seen together."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.lint.model.workload import LintContainer, LintWorkload, Scope
from probelet.lint.read.manifest import read_source
from probelet.lint.read.source import sources
from probelet.lint.settings import Settings


def deployment(**metadata: Any) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/", "port": "http"}, "timeoutSeconds": 0, "periodSeconds": None}
    sidecar = {"name": "proxy", "image": "i", "restartPolicy": "Always", "readinessProbe": {"tcpSocket": {"port": 9}}}
    app = {"name": "app", "image": "i", "ports": [{"name": "http", "containerPort": 80}], "livenessProbe": probe}
    spec = {"initContainers": [sidecar, {"name": "init", "image": "i"}], "containers": [app]}
    template = {"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", **metadata},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def thing(version: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def service(name: str, selector: dict[str, str] | None, **metadata: Any) -> dict[str, Any]:
    return thing("v1", "Service", name, {"selector": selector, "ports": [{"port": 80}]}, **metadata)


def workload(folder: Path, *objects: dict[str, Any]) -> LintWorkload:
    """The first workload of a file with these objects."""
    path = folder / "all.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    scope = Scope(Settings())
    for source in sources([path]):
        read_source(source, scope)  # type: ignore[arg-type]
    return scope.workloads[0]


def container(found: LintWorkload, name: str) -> LintContainer:
    return next(each for each in found.containers if each.name == name)


def test_a_probe_has_its_defaults_and_the_names_of_the_fields_that_are_written(tmp_path: Path) -> None:
    found = workload(tmp_path, deployment())
    probe = container(found, "app").liveness
    assert probe is not None
    assert (probe.timing.timeout, probe.timing.period, probe.timing.failures) == (1, 10, 3)
    assert probe.written == {"httpGet", "timeoutSeconds"}
    assert probe.path == "spec.template.spec.containers[0].livenessProbe"
    assert (probe.port, probe.port_number, probe.host, probe.argv) == ("http", 80, "", [])


def test_containers_have_their_roles(tmp_path: Path) -> None:
    found = workload(tmp_path, deployment())
    assert {each.name: each.role for each in found.containers} == {"app": "regular", "proxy": "sidecar", "init": "init"}
    assert [each.name for each in found.probed] == ["app", "proxy"]


@pytest.mark.parametrize(
    ("selector", "metadata", "is_found"),
    [
        ({"app": "web"}, {}, True),
        ({"app": "web", "tier": "front"}, {"namespace": "shop"}, True),
        ({"app": "web", "tier": "back"}, {}, False),
        ({}, {}, False),
        (None, {}, False),
        ({"app": "web"}, {"namespace": "other"}, False),
    ],
)
def test_a_service_is_found_by_its_selector_and_namespace(
    tmp_path: Path, selector: dict[str, str] | None, metadata: dict[str, str], is_found: bool
) -> None:
    found = workload(tmp_path, deployment(namespace="shop"), service("web", selector, **metadata))
    assert [each.metadata.name for each in found.services] == (["web"] if is_found else [])


@pytest.mark.parametrize(
    ("selector", "is_found"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({}, True),
        (None, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "Near"}]}, False),
    ],
    ids=str,
)
def test_a_budget_is_found_by_its_selector(tmp_path: Path, selector: Any, is_found: bool) -> None:
    budget = thing("policy/v1", "PodDisruptionBudget", "b", {"selector": selector, "minAvailable": "50%"})
    assert len(workload(tmp_path, deployment(), budget).disruption_budgets) == is_found


def test_an_autoscaler_decides_the_fewest_replicas(tmp_path: Path) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = thing("autoscaling/v2", "HorizontalPodAutoscaler", "web", {"scaleTargetRef": target, "maxReplicas": 9})
    found = workload(tmp_path, deployment(), scaler)
    assert (found.replicas, found.replicas_min) == (3, 1)
    other = {**scaler, "spec": {**scaler["spec"], "scaleTargetRef": {**target, "name": "other"}}}
    assert workload(tmp_path, deployment(), other).replicas_min == 3


def backend(name: str) -> dict[str, Any]:
    return {"service": {"name": name, "port": {"number": 80}}}


@pytest.mark.parametrize(
    "route",
    [
        thing("networking.k8s.io/v1", "Ingress", "r", {"rules": [{"http": {"paths": [{"backend": backend("web")}]}}]}),
        thing("networking.k8s.io/v1", "Ingress", "r", {"defaultBackend": backend("web")}),
        thing(
            "extensions/v1beta1",
            "Ingress",
            "r",
            {"rules": [{"http": {"paths": [{"backend": {"serviceName": "web", "servicePort": 80}}]}}]},
        ),
        thing("gateway.networking.k8s.io/v1", "HTTPRoute", "r", {"rules": [{"backendRefs": [{"name": "web"}]}]}),
        thing(
            "networking.istio.io/v1",
            "VirtualService",
            "r",
            {"http": [{"route": [{"destination": {"host": "web.shop.svc"}}], "timeout": "3s"}]},
        ),
    ],
    ids=lambda route: f"{route['apiVersion']} {route['kind']}",
)
def test_a_route_is_found_through_its_service(tmp_path: Path, route: dict[str, Any]) -> None:
    objects = deployment(), service("web", {"app": "web"})
    assert [each.metadata.name for each in workload(tmp_path, *objects, route).routes] == ["r"]
    assert workload(tmp_path, deployment(), service("web", {"app": "x"}), route).routes == []


def test_a_neighbour_with_a_mistake_is_passed_over(tmp_path: Path) -> None:
    broken = thing("v1", "Service", "web", {"selector": {"app": "web"}, "ports": "80"})
    assert workload(tmp_path, deployment(), broken).services == []


def test_a_network_policy_is_known(tmp_path: Path) -> None:
    policy = thing("networking.k8s.io/v1", "NetworkPolicy", "p", {"podSelector": {}, "ingress": [{"ports": []}]})
    found = workload(tmp_path, deployment(), policy)
    assert [each.spec.ingress for each in found.network_policies] == [[{"ports": []}]]


@pytest.mark.parametrize(("text", "seconds"), [("45", 45), ("app=12.5,proxy=1", 12.5), (None, 60)])
def test_a_start_is_as_long_as_the_annotation_says_or_else_the_setting(
    tmp_path: Path, text: str | None, seconds: float
) -> None:
    object_ = deployment()
    if text is not None:
        object_["spec"]["template"]["metadata"]["annotations"] = {"probelet.dev/startup-seconds": text}
    found = workload(tmp_path, object_)
    found.scope.settings = Settings(startup_p99=60)
    assert container(found, "app").startup_seconds == seconds
