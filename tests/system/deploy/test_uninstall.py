"""`kubectl delete -k` takes everything away, while a request keeps a pod out of service and no controller is left."""

import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.cluster.control_plane.api import ApiError, Object
from tests.cluster.machine.program import Program
from tests.system.containerd.machine import until
from tests.system.deploy.conftest import Administrator
from tests.system.deploy.rendered import kustomized
from tests.unit.deploy.manifests.manifest import NAMESPACE, OVERLAYS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

OVERLAY = OVERLAYS / "enhanced-liveness"
PODS, KRUISE = "/api/v1/namespaces/default/pods", "/apis/apps.kruise.io/v1alpha1"
REQUESTS = f"{KRUISE}/namespaces/default/containerrecreaterequests"
GATE = "KruisePodReady"


@pytest.fixture
def installed(administrator: Administrator) -> Administrator:
    """The folder's cluster, with what its other tests have left: this one is the last, and ends all of it."""
    kubectl = administrator.kubectl
    # As on a first installation: the kinds are established a moment after the objects are applied.
    kubectl("apply", "-k", OVERLAY)
    crds = ["crd/nodepodprobes.apps.kruise.io", "crd/containerrecreaterequests.apps.kruise.io"]
    kubectl("wait", "--for=condition=Established", "--timeout=60s", *crds)
    return administrator


def out_of_service(administrator: Administrator, folder: Path) -> None:
    """A controller has taken a pod out of service for a request, and has ended."""
    api, kubectl = administrator.control.api, administrator.kubectl
    api.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker"}})
    spec = {"nodeName": "worker", "containers": [{"name": "app", "image": "none"}]}
    made = api.create(
        PODS, {"metadata": {"name": "web"}, "spec": {**spec, "readinessGates": [{"conditionType": GATE}]}}
    )
    labels = {"crr.apps.kruise.io/pod-uid": made["metadata"]["uid"], "crr.apps.kruise.io/node-name": "worker"}
    # The webhook of requests is not there; those of the restart decision do without it.
    labels |= {"crr.apps.kruise.io/active": "true", "elp.kruise.io/managed": "true"}
    wanted = {"podName": "web", "containers": [{"name": "app"}], "strategy": {"unreadyGracePeriodSeconds": 600}}
    body = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest", "spec": wanted}
    api.create(REQUESTS, {**body, "metadata": {"name": "again", "labels": labels}})
    api.patch(f"{REQUESTS}/again/status", {"status": {"phase": "Recreating"}})
    token = kubectl("create", "token", "probelet-controller", "-n", NAMESPACE).strip()
    kubeconfig = administrator.control.kubeconfig_of("controller", token)
    command = [sys.executable, "-m", "probelet", "controller", "--kubeconfig", kubeconfig, "--trust-changes"]
    program = Program(kubectl.inside, command, folder / "log")
    program.start()
    try:
        until(lambda: gate(api.get(f"{PODS}/web")) == "False", "the pod out of service")
        until(lambda: api.get(f"{REQUESTS}/again")["metadata"].get("annotations"), "the note")
    finally:
        program.stop()


def gate(pod: Object) -> str:
    conditions = pod["status"].get("conditions") or []
    return next((str(one["status"]) for one in conditions if one["type"] == GATE), "")


def test_it_ends_and_leaves_nothing(installed: Administrator, tmp_path: Path) -> None:
    out_of_service(installed, tmp_path)
    kubectl = installed.kubectl
    # It waits for each object until that is gone; one that does not go fails it.
    kubectl("delete", "-k", OVERLAY, "--timeout=60s")
    by_namespace: defaultdict[str, list[str]] = defaultdict(list)
    for kind, namespace, name in kustomized(OVERLAY):
        by_namespace[namespace].append(f"{kind}/{name}")
    for namespace, names in by_namespace.items():
        said = kubectl("get", *names, *(["-n", namespace] if namespace else []), check=False)
        assert said.count("(NotFound)") == len(names), said
    # A kind that comes back has no request of before. Pods stay.
    with pytest.raises(ApiError):
        installed.control.api.get(f"{REQUESTS}/again")
    assert json.loads(kubectl("get", "pod", "web", "-n", "default", "-o", "json"))["metadata"]["name"] == "web"
