"""`probelet controller` with the roles of its manifests, on a real API server with real PodDisruptionBudgets.

The test plays the node: it publishes statuses of pods and NodePodProbes, and carries requests out.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane.api import APPLY, ApiError, Object
from tests.cluster.control_plane.plane import Kubectl
from tests.cluster.machine.program import Program
from tests.system.containerd.machine import until
from tests.system.deploy.conftest import Administrator
from tests.unit.deploy.manifests.manifest import DEPLOY, ENHANCED, NAMESPACE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

NODE = "elp-node"
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
PROBES = "/apis/apps.kruise.io/v1alpha1/nodepodprobes"
REQUESTS = "/apis/apps.kruise.io/v1alpha1/namespaces/default/containerrecreaterequests"
PATHS = {
    "Node": NODES,
    "StatefulSet": "/apis/apps/v1/namespaces/default/statefulsets",
    "PodDisruptionBudget": BUDGETS,
    "ContainerRecreateRequest": REQUESTS,
}
CONTEXT = '[{"name":"app","livenessProbe":{"exec":{"command":["/healthy.sh"]},"periodSeconds":10}}]'
STATEFUL_SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "elp", "namespace": "default"},
    "spec": {
        "replicas": 3,
        "serviceName": "elp",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "elp"}},
        "template": {
            "metadata": {
                "labels": {"app": "elp"},
                "annotations": {
                    "apps.kruise.io/using-enhanced-liveness": "true",
                    "apps.kruise.io/container-probe-context": CONTEXT,
                },
            },
            "spec": {"containers": [{"name": "app", "image": "none"}], "nodeSelector": {"elp": "true"}},
        },
    },
}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "elp", "namespace": "default"},
    "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "elp"}}},
}


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Stage:
    """The API server with a node and a workload, as the test's kubelet and agent.

    It asks the API itself, because a kubectl for each of so many questions would take most of the time.
    """

    def __init__(self, administrator: Administrator) -> None:
        self.kubectl = administrator.kubectl
        self.api = administrator.control.api
        self.began = now()

    def is_served(self) -> bool:
        """Whether the API server has begun with the kinds. Established, their storage may not be there yet."""
        try:
            return self.api.items(PROBES) == self.requests() == []
        except ApiError:
            return False

    def apply(self, obj: Object) -> None:
        path = f"{PATHS[obj['kind']]}/{obj['metadata']['name']}"
        self.api.call("PATCH", path, obj, kind=APPLY, query={"fieldManager": "test", "force": "true"})

    def patch_status(self, path: str, status: Object) -> None:
        self.api.patch(f"{path}/status", {"status": status})

    def disruptions(self) -> int:
        """How many pods the budget gives away now."""
        budget = self.api.get(f"{BUDGETS}/elp")
        return int(budget.get("status", {}).get("disruptionsAllowed", -1))

    def node(self) -> None:
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": {"elp": "true"}}})
        room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now(), "lastTransitionTime": now()}
        ready |= {"reason": "Test", "message": "the test"}
        self.patch_status(f"{NODES}/{NODE}", {"capacity": room, "allocatable": room, "conditions": [ready]})
        # The controller manager taints a node that has not been ready.
        self.api.patch(f"{NODES}/{NODE}", {"spec": {"taints": None}})

    def pods(self) -> list[Any]:
        found = self.api.items(PODS, labelSelector="app=elp")
        return [pod for pod in found if pod["spec"].get("nodeName") == NODE]

    def run_pods(self, **restarts: int) -> None:
        """The kubelet's statuses; ``restarts`` by name, with underscores."""
        for number, pod in enumerate(self.pods()):
            name = pod["metadata"]["name"]
            count = restarts.get(name.replace("-", "_"), 0)
            container = {
                "name": "app",
                "image": "none",
                "imageID": "none",
                "containerID": f"containerd://{name}-{count}",
                "restartCount": count,
                "ready": True,
                "started": True,
                "state": {"running": {"startedAt": now() if count else self.began}},
            }
            conditions = [{"type": each, "status": "True"} for each in ("Ready", "ContainersReady", "Initialized")]
            status = {"phase": "Running", "podIP": f"10.9.0.{number + 1}", "conditions": conditions}
            self.patch_status(f"{PODS}/{name}", {**status, "containerStatuses": [container]})

    def publish(self, *failed: str) -> None:
        entries = self.api.get(f"{PROBES}/{NODE}")["spec"]["podProbes"]
        statuses = [
            {
                **{key: entry[key] for key in ("name", "namespace", "uid")},
                "probeStates": [
                    {
                        "name": entry["probes"][0]["name"],
                        "state": "Failed" if entry["name"] in failed else "Succeeded",
                        "lastProbeTime": now(),
                        "lastTransitionTime": now(),
                        "message": "exit status 1",
                    }
                ],
            }
            for entry in entries
        ]
        self.patch_status(f"{PROBES}/{NODE}", {"podProbeStatuses": statuses})

    def requests(self) -> list[Object]:
        return self.api.items(REQUESTS)

    def events(self, reason: str) -> list[Object]:
        return self.api.items("/api/v1/namespaces/default/events", fieldSelector=f"reason={reason}")


@pytest.fixture(scope="module")
def stage(administrator: Administrator, applied: Kubectl) -> Iterator[Stage]:
    applied("apply", "-k", DEPLOY / "crds")
    crds = ["crd/nodepodprobes.apps.kruise.io", "crd/containerrecreaterequests.apps.kruise.io"]
    applied("wait", "--for=condition=Established", "--timeout=60s", *crds)
    applied("apply", "-k", ENHANCED / "controller")
    # The Deployment's own pods have no node to run on; the test runs the program.
    made = Stage(administrator)
    until(made.is_served, "the kinds of enhanced liveness")
    made.node()
    made.apply(STATEFUL_SET)
    made.apply(BUDGET)
    until(lambda: len(made.pods()) == 3, "three pods on the node")
    made.run_pods()
    yield made
    for what in ("statefulset/elp", "pdb/elp", f"node/{NODE}"):
        applied("delete", what, "-n", "default", "--wait=false", check=False)


@pytest.fixture(scope="module")
def controller(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The controller as its service account; yields its log."""
    folder = tmp_path_factory.mktemp("controller")
    config = json.loads(stage.kubectl("config", "view", "--raw", "-o", "json"))
    token = stage.kubectl("create", "token", "probelet-controller", "-n", NAMESPACE).strip()
    config["users"][0]["user"] = {"token": token}
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    kubeconfig.write_text(json.dumps(config))
    command = [sys.executable, "-m", "probelet", "controller", "--kubeconfig", kubeconfig, "--trust-changes"]
    program = Program(stage.kubectl.inside, command, log)
    program.start()
    try:
        yield log
    finally:
        assert program.stop() == 0, log.read_text()[-4000:]


def test_from_the_pod_to_the_request_with_a_real_budget(stage: Stage, controller: Path) -> None:
    def mapped() -> bool:
        return [len(probes["spec"]["podProbes"]) for probes in stage.api.items(PROBES)] == [3]

    until(mapped, f"three entries in the NodePodProbe ({controller})")
    until(lambda: stage.disruptions() == 1, "the budget's status")
    stage.node()
    stage.publish("elp-1")
    until(lambda: stage.requests() != [], f"a request ({controller})")
    [request] = stage.requests()
    assert request["spec"]["podName"] == "elp-1"
    assert request["spec"]["containers"][0]["statusContext"]["containerID"] == "containerd://elp-1-0"
    assert request["metadata"]["ownerReferences"][0]["name"] == "elp-1"
    until(lambda: stage.events("ELPRestarting") != [], "the event")
    columns = stage.kubectl("get", "crr", "-n", "default").splitlines()
    assert columns[0].split() == ["NAME", "PHASE", "POD", "NODE", "AGE"]
    assert columns[1].split()[1:3] == ["elp-1", NODE]


def test_a_real_budget_at_zero_keeps_the_pod(stage: Stage, controller: Path) -> None:
    [request] = stage.requests()
    done = {"phase": "Completed", "completionTime": now()}
    done |= {"containerRecreateStates": [{"name": "app", "phase": "Succeeded", "isKilled": True}]}
    stage.run_pods(elp_1=1)
    stage.patch_status(f"{REQUESTS}/{request['metadata']['name']}", done)
    stage.apply({**BUDGET, "spec": {**BUDGET["spec"], "maxUnavailable": 0}})  # type: ignore[dict-item]
    until(lambda: stage.disruptions() == 0, "the budget at zero")
    stage.node()
    stage.publish("elp-2")
    until(lambda: stage.events("BudgetDenied") != [], f"the refusal ({controller})")
    assert [each["spec"]["podName"] for each in stage.requests()] == ["elp-1"]


def test_requests_of_persons_are_managed_with_the_roles_of_the_manifests(stage: Stage, controller: Path) -> None:
    body = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest"}
    [pod] = [each for each in stage.pods() if each["metadata"]["name"] == "elp-0"]
    for name, uid in (("of-a-person", pod["metadata"]["uid"]), ("of-no-pod", "gone")):
        labels = {"crr.apps.kruise.io/active": "true", "crr.apps.kruise.io/pod-uid": uid}
        context = {"containerID": "containerd://older", "restartCount": 0}
        spec = {
            "podName": "elp-0",
            "containers": [{"name": "app", "statusContext": context}],
            "ttlSecondsAfterFinished": 1,
        }
        stage.apply({**body, "metadata": {"name": name, "namespace": "default", "labels": labels}, "spec": spec})
    # Its label goes, and after a second the request too.
    until(lambda: "of-no-pod" not in names(stage), f"the request without a pod is collected ({controller})")
    stage.patch_status(f"{REQUESTS}/of-a-person", {"phase": "Recreating"})
    snapshot = "crr.apps.kruise.io/sync-container-statuses"

    def noted() -> bool:
        return snapshot in stage.api.get(f"{REQUESTS}/of-a-person")["metadata"].get("annotations", {})

    until(noted, f"the statuses of the new container ({controller})")
    stage.patch_status(f"{REQUESTS}/of-a-person", {"phase": "Completed", "completionTime": now()})
    until(lambda: "of-a-person" not in names(stage), f"the request is collected ({controller})")


def names(stage: Stage) -> list[str]:
    return [each["metadata"]["name"] for each in stage.requests()]


def test_a_pod_that_goes_takes_its_request_and_its_entry_along(stage: Stage, controller: Path) -> None:
    stage.kubectl("delete", "statefulset", "elp", "-n", "default", "--wait=false")
    stage.kubectl("delete", "pods", "-l", "app=elp", "-n", "default", "--force", "--grace-period=0")
    until(lambda: stage.requests() == [], "no request is left")
    until(lambda: stage.api.items(PROBES) == [], f"the NodePodProbe is gone ({controller})")


def test_the_spec_of_a_request_cannot_change(stage: Stage) -> None:
    body = {
        "apiVersion": "apps.kruise.io/v1alpha1",
        "kind": "ContainerRecreateRequest",
        "metadata": {"name": "by-hand", "namespace": "default"},
        "spec": {"podName": "x", "containers": [{"name": "app"}]},
    }
    stage.apply(body)
    with pytest.raises(RuntimeError, match="a request cannot be changed"):
        stage.apply({**body, "spec": {"podName": "y", "containers": [{"name": "app"}]}})
    stage.api.delete(f"{REQUESTS}/by-hand")
