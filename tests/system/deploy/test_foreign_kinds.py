"""Objects of other projects' kinds, against the CRDs that these projects publish. Nothing here acts on the objects."""

from pathlib import Path

import pytest

from tests.cluster.control_plane.plane import Kubectl
from tests.system.deploy.programs import published
from tests.system.deploy.rendered import Objects, kustomized
from tests.system.deploy.test_api_server import FOREIGN, taken
from tests.unit.deploy.manifests.manifest import MONITORING, OVERLAYS, documents

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

OPERATOR = ("github.com/prometheus-operator/prometheus-operator", "v0.85.0", "example/prometheus-operator-crd")
CERT_MANAGER = ("github.com/cert-manager/cert-manager", "v1.21.2", "deploy/crds")


def define(kubectl: Kubectl, module: tuple[str, str, str], *names: str) -> None:
    """Makes CRDs of a published module known to the API server."""
    folder = published(*module[:2]) / module[2]
    for name in names:
        kubectl("apply", "--server-side", "-f", folder / f"{name}.yaml")
    wanted = [f"crd/{plural}.{group}" for group, plural in (name.split("_") for name in names)]
    kubectl("wait", "--for=condition=Established", "--timeout=60s", *wanted)


def refused(kubectl: Kubectl, one: dict[str, object]) -> str:
    with pytest.raises(RuntimeError) as error:
        taken(kubectl, [one])
    return str(error.value)


def test_the_operators_schemas_take_monitors_and_rules(applied: Kubectl) -> None:
    define(applied, OPERATOR, "monitoring.coreos.com_podmonitors", "monitoring.coreos.com_prometheusrules")
    objects = [one for file in files(MONITORING) for one in documents(file)]
    assert len(taken(applied, objects)) == len(objects) == 4
    # The schema sees a field that it does not have.
    monitor = next(one for one in objects if one["kind"] == "PodMonitor")
    monitor["spec"]["podMetricsEndpoints"][0]["shceme"] = "https"
    assert "shceme" in refused(applied, monitor)


def test_cert_managers_schemas_take_issuer_and_certificate(applied: Kubectl) -> None:
    define(applied, CERT_MANAGER, "cert-manager.io_issuers", "cert-manager.io_certificates")
    objects: Objects = kustomized(OVERLAYS / "cert-manager")
    foreign = {name: one for name, one in objects.items() if one["kind"] in FOREIGN}
    assert {kind for kind, _, _ in foreign} == FOREIGN
    assert taken(applied, list(foreign.values())) == foreign.keys()


def files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.yaml")) if path.name != "kustomization.yaml"]
