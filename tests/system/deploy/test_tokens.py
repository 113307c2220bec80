"""What the thief of each token can do, and what is refused: each part of the rows of docs/security.md, played on a real
API server with the roles and policies that people apply."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.cluster.control_plane.api import APPLY, JSON, STRATEGIC, Api, ApiError, Object
from tests.support.paths import ROOT
from tests.system.containerd.machine import until
from tests.system.deploy.conftest import Administrator
from tests.unit.deploy.manifests.manifest import DEPLOY, ENHANCED, NAMESPACE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

OWN, OTHER = "tokens-a", "tokens-b"
NODE = {"kind": "Node", "apiVersion": "v1"}
CORE, KRUISE = "/api/v1", "/apis/apps.kruise.io/v1alpha1"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/zz-probelet"
REQUESTS = f"{KRUISE}/namespaces/default/containerrecreaterequests"
PODS = f"{CORE}/namespaces/default/pods"
SECRETS = f"{CORE}/namespaces/{NAMESPACE}/secrets"


class Stage:
    """The API server as its administrator, with two nodes, a pod on each, and a request and NodePodProbe for each."""

    def __init__(self, administrator: Administrator) -> None:
        self.admin = administrator.control.api
        kubectl = administrator.kubectl
        kubectl("apply", "-k", DEPLOY / "kustomize" / "base")
        kubectl("apply", "-k", DEPLOY / "crds")
        crds = ["crd/nodepodprobes.apps.kruise.io", "crd/containerrecreaterequests.apps.kruise.io"]
        kubectl("wait", "--for=condition=Established", "--timeout=60s", *crds)
        kubectl("apply", "-k", ENHANCED / "controller")
        # Other tests of this API server have led.
        self.admin.delete(LEASES)
        for node in (OWN, OTHER):
            self.admin.create(f"{CORE}/nodes", {**NODE, "metadata": {"name": node}})
            self.admin.create(PODS, pod(node, node))
            self.admin.create(f"{KRUISE}/nodepodprobes", probes(node))
            self.admin.create(REQUESTS, request(node, node))
        self.admin.create(f"{CORE}/namespaces/default/events", event("of-the-kubelet", "kubelet", OWN))
        # A policy takes effect some moments after it was applied.
        until(lambda: refusal(self.admin, _leads), "the policies")

    def token(self, account: str, node: str, name: str) -> str:
        """A token as a pod of the account on a node has it."""
        made = self.admin.create(f"{CORE}/namespaces/{NAMESPACE}/pods", pod(name, node, account))
        bound = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": made["metadata"]["uid"]}
        path = f"{CORE}/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
        return str(self.admin.create(path, {"spec": {"boundObjectRef": bound}})["status"]["token"])

    @contextmanager
    def thief(self, account: str, node: str, name: str) -> Iterator[Api]:
        """The API server with the token of a pod of an account."""
        api = self.admin.as_user(self.token(account, node, name))
        try:
            yield api
        finally:
            api.close()

    def close(self) -> None:
        """Leaves nothing for the other tests of this API server."""
        for node in (OWN, OTHER):
            for path in (f"{CORE}/nodes", PODS, f"{KRUISE}/nodepodprobes", REQUESTS):
                self.admin.delete(f"{path}/{node}", 0)
        for path in (LEASES, f"{CORE}/namespaces/default/events", f"{CORE}/namespaces/{NAMESPACE}/pods"):
            self.admin.delete(path, 0)
        self.admin.delete(CERTIFICATE)


def pod(name: str, node: str, account: str = "") -> Object:
    spec: Object = {"nodeName": node, "containers": [{"name": "app", "image": "none"}]}
    spec |= {"automountServiceAccountToken": False, "readinessGates": [{"conditionType": "KruisePodReady"}]}
    return {"metadata": {"name": name}, "spec": spec | ({"serviceAccountName": account} if account else {})}


def probes(node: str, **spec: Any) -> Object:
    return {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "NodePodProbe", "metadata": {"name": node}, "spec": spec}


def request(name: str, node: str) -> Object:
    labels = {"crr.apps.kruise.io/node-name": node, "crr.apps.kruise.io/active": "true"}
    spec = {"podName": node, "containers": [{"name": "app"}]}
    kind = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest"}
    return {**kind, "metadata": {"name": name, "labels": labels}, "spec": spec}


def node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "name": name, "uid": name}


def event(name: str, component: str, host: str, about: Object | None = None) -> Object:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": about or {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": OTHER},
        "reason": "Unhealthy",
        "message": "x",
        "source": {"component": component, "host": host},
        "reportingComponent": component,
        "reportingInstance": host,
    }


def lease(name: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"holderIdentity": "thief", "leaseDurationSeconds": 40}}


def gate(api: Api, name: str, type: str, status: str) -> Object:
    """A condition as agent and controller write it: by server-side apply or a strategic patch."""
    rows = [{"type": type, "status": status, "lastTransitionTime": "2026-11-24T00:00:00Z"}]
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "status": {"conditions": rows}}
    return api.patch(f"{PODS}/{name}/status?fieldManager=probelet-agent&force=true", body, APPLY)


@dataclass(frozen=True)
class Part:
    """One part of a row: what a thief tries, and the words of each refusal; none if it remains possible."""

    says: str
    tries: list[Callable[[Api], object]]
    refused: str = ""


@dataclass
class Row:
    """A token, and the account that has it."""

    party: str
    account: str
    parts: list[Part] = field(default_factory=list)

    def may(self, says: str, *tries: Callable[[Api], object]) -> None:
        self.parts.append(Part(says, [*tries]))

    def cannot(self, says: str, refused: str, *tries: Callable[[Api], object]) -> None:
        self.parts.append(Part(says, [*tries], refused))


def has_right(api: Api, verb: str, group: str, resource: str, subresource: str) -> None:
    """Raises ApiError if the user of ``api`` has no such right."""
    asked = {"verb": verb, "group": group, "resource": resource, "subresource": subresource}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    spec = {"resourceAttributes": {**asked, "namespace": "default", "name": "any"}}
    answer = api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {**body, "spec": spec})
    if not answer["status"]["allowed"]:
        raise ApiError(403, str(answer["status"]))


NO_RIGHT = "cannot (get|list|create|update|patch|delete) resource"

AGENT = Row("the token of an agent", "probelet-agent")
AGENT.may("read every pod", lambda api: api.get(f"{CORE}/pods"), lambda api: api.get(f"{PODS}/{OTHER}"))
AGENT.may("list the namespaces", lambda api: api.get(f"{CORE}/namespaces"))
AGENT.may("read the Leases of probelet's namespace", lambda api: api.get(LEASES))
AGENT.may(
    "read every NodePodProbe and request",
    lambda api: api.get(f"{KRUISE}/nodepodprobes/{OTHER}"),
    lambda api: api.get(f"{KRUISE}/containerrecreaterequests"),
)
AGENT.may(
    "open and close the gate `probelet.dev/ready` of pods on its own node",
    lambda api: gate(api, OWN, "probelet.dev/ready", "False"),
    lambda api: gate(api, OWN, "probelet.dev/ready", "True"),
)
AGENT.may(
    "write the states of its own node's NodePodProbe, and so have its pods restarted within their budgets",
    lambda api: api.replace(
        f"{KRUISE}/nodepodprobes/{OWN}/status",
        {**api.get(f"{KRUISE}/nodepodprobes/{OWN}"), "status": {"podProbeStatuses": []}},
    ),
)
AGENT.may(
    "write the status of requests for its own node",
    lambda api: api.patch(f"{REQUESTS}/{OWN}/status", {"status": {"phase": "Recreating"}}),
)
AGENT.may(
    "say that it lives, by the Lease of its own node",
    lambda api: api.create(LEASES, lease(f"probelet-agent-{OWN}")),
    lambda api: api.replace(f"{LEASES}/probelet-agent-{OWN}", api.get(f"{LEASES}/probelet-agent-{OWN}")),
)
AGENT.may(
    "write events about any pod and its own node, in the name of the agent on its node",
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("of-the-thief", "probelet-agent", OWN)),
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("of-the-node", "probelet-agent", OWN, node(OWN))),
)
AGENT.cannot(
    "open or close a gate on another node",
    "touches only pods of its own node",
    lambda api: gate(api, OTHER, "probelet.dev/ready", "True"),
)
AGENT.cannot(
    "change anything else of a pod",
    "sets no condition but|leaves phase, addresses|changes nothing of a pod but|" + NO_RIGHT,
    lambda api: gate(api, OWN, "Ready", "True"),
    lambda api: gate(api, OWN, "KruisePodReady", "True"),
    lambda api: api.patch(f"{PODS}/{OWN}/status", {"status": {"phase": "Failed"}}),
    lambda api: api.patch(f"{PODS}/{OWN}", {"metadata": {"labels": {"a": "b"}}}),
)
AGENT.cannot(
    "write states and statuses of another node",
    "writes the status only of its own node's",
    lambda api: api.replace(
        f"{KRUISE}/nodepodprobes/{OTHER}/status",
        {**api.get(f"{KRUISE}/nodepodprobes/{OTHER}"), "status": {"podProbeStatuses": []}},
    ),
    lambda api: api.patch(f"{REQUESTS}/{OTHER}/status", {"status": {"phase": "Completed"}}),
)
AGENT.cannot(
    "ask for a probe or a restart",
    NO_RIGHT,
    lambda api: api.create(REQUESTS, request("of-the-thief", OWN)),
    lambda api: api.patch(f"{KRUISE}/nodepodprobes/{OWN}", {"spec": {"podProbes": []}}),
)
AGENT.cannot(
    "say that another node's agent lives, or take the lead from the controllers",
    "renews the Lease of its own node and no other",
    lambda api: api.create(LEASES, lease(f"probelet-agent-{OTHER}")),
    lambda api: api.create(LEASES, lease("probelet-controller")),
)
AGENT.cannot(
    "speak in events for a kubelet or another node, or change theirs",
    "writes events about pods and its own node, with its own name|changes only the events",
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("forged", "probelet-agent", OWN, node(OTHER))),
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("forged", "kubelet", OWN)),
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("forged", "probelet-agent", OTHER)),
    lambda api: api.patch(f"{CORE}/namespaces/default/events/of-the-kubelet", {"message": "all is well"}),
)
AGENT.cannot(
    "create, delete or enter a pod, or read a Secret or ConfigMap",
    NO_RIGHT,
    lambda api: api.create(PODS, pod("of-the-thief", OWN)),
    lambda api: api.delete(f"{PODS}/{OWN}"),
    lambda api: api.create(f"{PODS}/{OWN}/exec?command=id", {}),
    lambda api: api.get(SECRETS),
    lambda api: api.get(f"{CORE}/namespaces/{NAMESPACE}/configmaps"),
)

CONTROLLER = Row("the token of the controller", "probelet-controller")
CONTROLLER.may(
    "read every pod, node, workload and disruption budget",
    lambda api: api.get(f"{CORE}/pods"),
    lambda api: api.get(f"{CORE}/nodes"),
    lambda api: api.get("/apis/apps/v1/deployments"),
    lambda api: api.get("/apis/policy/v1/poddisruptionbudgets"),
)
CONTROLLER.may(
    "have any container of the cluster stopped within its grace, by a request, and say that a request has ended",
    lambda api: api.create(REQUESTS, request("of-the-thief", OTHER)),
    lambda api: api.patch(f"{REQUESTS}/of-the-thief/status", {"status": {"phase": "Completed"}}),
    lambda api: api.delete(f"{REQUESTS}/of-the-thief"),
)
CONTROLLER.may(
    "write and delete every NodePodProbe: the agents make of it what the pods' own annotations ask for",
    lambda api: api.create(f"{KRUISE}/nodepodprobes", probes("of-the-thief", podProbes=[])),
    lambda api: api.delete(f"{KRUISE}/nodepodprobes/of-the-thief"),
)
CONTROLLER.may(
    "take any pod out of service that has one of its readiness gates, until its agent writes the gate again",
    lambda api: gate(api, OTHER, "probelet.dev/ready", "False"),
    lambda api: gate(api, OTHER, "KruisePodReady", "False"),
    lambda api: gate(api, OTHER, "KruisePodReady", "True"),
)
CONTROLLER.may(
    "lead, by the Lease `probelet-controller`",
    lambda api: api.create(LEASES, lease("probelet-controller")),
    lambda api: api.replace(f"{LEASES}/probelet-controller", api.get(f"{LEASES}/probelet-controller")),
)
CONTROLLER.may(
    "write events about any object",
    lambda api: api.create(f"{CORE}/namespaces/default/events", event("of-the-controller", "any", "host")),
)
CONTROLLER.may(
    "take places in every PodUnavailableBudget",
    # The cluster of this test lacks the kind.
    lambda api: has_right(api, "patch", "policy.kruise.io", "podunavailablebudgets", "status"),
)
CONTROLLER.may("read its settings", lambda api: api.get(f"{CORE}/namespaces/{NAMESPACE}/configmaps/elp-config"))
CONTROLLER.cannot(
    "open the gate `probelet.dev/ready`, or turn `Ready` to True",
    "closes the gate probelet.dev/ready and turns Ready to False, never to True",
    lambda api: gate(api, OTHER, "probelet.dev/ready", "True"),
    lambda api: api.patch(
        f"{PODS}/{OTHER}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, STRATEGIC
    ),
)
CONTROLLER.cannot(
    "change anything else of a pod",
    "sets no condition but|leaves phase, addresses|" + NO_RIGHT,
    lambda api: gate(api, OTHER, "PodScheduled", "False"),
    lambda api: api.patch(f"{PODS}/{OTHER}/status", {"status": {"phase": "Failed"}}),
    lambda api: api.patch(f"{PODS}/{OTHER}", {"metadata": {"labels": {"a": "b"}}}),
)
CONTROLLER.cannot(
    "say that an agent lives, or without `components/unready-without-agent` read the Leases of agents",
    "renews the Lease probelet-controller and no other|" + NO_RIGHT,
    lambda api: api.create(LEASES, lease(f"probelet-agent-{OTHER}")),
    lambda api: api.get(LEASES),
)
CONTROLLER.cannot(
    "create, delete, evict or enter a pod, change a workload or its own settings, or read a Secret",
    NO_RIGHT,
    lambda api: api.create(PODS, pod("of-the-thief", OWN)),
    lambda api: api.delete(f"{PODS}/{OTHER}"),
    lambda api: api.create(f"{PODS}/{OTHER}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction"}),
    lambda api: api.create(f"{PODS}/{OTHER}/exec?command=id", {}),
    lambda api: api.patch("/apis/apps/v1/namespaces/default/deployments/any", {"spec": {"replicas": 0}}),
    lambda api: api.patch(f"{CORE}/namespaces/{NAMESPACE}/configmaps/elp-config", {"data": {"enabled": "false"}}),
    lambda api: api.get(SECRETS),
)

WEBHOOK = Row("the token of the webhook", "probelet-webhook")
CERTIFICATE = f"{SECRETS}/probelet-webhook-certificate"
TLS = {"type": "kubernetes.io/tls", "data": {"tls.crt": "Cg==", "tls.key": "Cg=="}}


def bundle(api: Api) -> Object:
    path = "/webhooks/0/clientConfig/caBundle"
    return api.patch(CONFIGURATION, [{"op": "add", "path": path, "value": "Cg=="}], JSON)


def configured(**change: Any) -> Callable[[Api], object]:
    """Changes the first webhook of the configuration."""
    operations = [{"op": "add", "path": f"/webhooks/0/{name}", "value": value} for name, value in change.items()]
    return lambda api: api.patch(CONFIGURATION, operations, JSON)


WEBHOOK.may(
    "write each `caBundle` of its configuration: a wrong one leaves new pods with their native probes",
    lambda api: api.get(CONFIGURATION),
    bundle,
)
WEBHOOK.may(
    "make, read and change its own certificate",
    lambda api: api.create(SECRETS, {"metadata": {"name": "probelet-webhook-certificate"}, **TLS}),
    lambda api: api.replace(CERTIFICATE, api.get(CERTIFICATE)),
)
WEBHOOK.may(
    "with enhanced liveness, read pods and nodes by their names, and list requests",
    lambda api: api.get(f"{PODS}/{OTHER}"),
    lambda api: api.get(f"{CORE}/nodes/{OTHER}"),
    lambda api: api.get(f"{KRUISE}/containerrecreaterequests"),
)
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
WEBHOOK.cannot(
    "change what it is called for, where the calls go, or what happens without an answer",
    "changes nothing of its configuration but each caBundle",
    configured(rules=[EVERYTHING]),
    configured(objectSelector={}),
    configured(namespaceSelector={}),
    configured(clientConfig={"url": "https://192.0.2.1/"}),
    configured(failurePolicy="Fail"),
)
WEBHOOK.cannot(
    "create or delete a configuration, or read another one",
    NO_RIGHT,
    lambda api: api.create(CONFIGURATION.rpartition("/")[0], {"metadata": {"name": "thief"}, "webhooks": []}),
    lambda api: api.delete(CONFIGURATION),
    lambda api: api.get(CONFIGURATION.rpartition("/")[0]),
)
WEBHOOK.cannot(
    "write a Secret of another name or type, or read one",
    "writes no Secret but|of no type but|" + NO_RIGHT,
    lambda api: api.create(SECRETS, {"metadata": {"name": "another"}, **TLS}),
    lambda api: api.get(SECRETS),
    lambda api: api.get(f"{SECRETS}/another"),
)
WEBHOOK.cannot(
    "list pods or change one",
    NO_RIGHT,
    lambda api: api.get(f"{CORE}/pods"),
    lambda api: api.patch(f"{PODS}/{OTHER}", {"metadata": {"labels": {"a": "b"}}}),
    lambda api: gate(api, OTHER, "probelet.dev/ready", "True"),
)

ROWS = (AGENT, CONTROLLER, WEBHOOK)


def _leads(api: Api) -> object:
    return api.create(f"{LEASES}?dryRun=All", lease("probelet-controller"))


@pytest.fixture(scope="module")
def stage(administrator: Administrator) -> Iterator[Stage]:
    made = Stage(administrator)
    yield made
    made.close()


def refusal(api: Api, tried: Callable[[Api], object]) -> str:
    try:
        tried(api)
    except ApiError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.account)
def test_each_part_of_a_row_is_true(stage: Stage, row: Row) -> None:
    with stage.thief(row.account, OWN, f"{row.account}-on-{OWN}") as thief:
        for part in row.parts:
            for number, tried in enumerate(part.tries):
                said = refusal(thief, tried)
                place = f"{row.party}: {part.says}: {number}: {said}"
                if part.refused:
                    assert re.search(part.refused, said), place
                else:
                    assert said == "", place


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.account)
def test_the_page_says_just_that(row: Row) -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    (found,) = re.findall(rf"^\| \*\*{row.party}\*\* \| (.*) \| (.*) \|$", text, re.MULTILINE)
    may, cannot = ([part.strip() for part in column.split("; ")] for column in found)
    assert may == [part.says for part in row.parts if not part.refused]
    assert cannot == [part.says for part in row.parts if part.refused]


def test_a_token_ends_with_its_pod(stage: Stage) -> None:
    own = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    with ExitStack() as stack:
        thieves = {}
        for row in ROWS:
            name = f"{row.account}-that-goes"
            thieves[name] = thief = stack.enter_context(stage.thief(row.account, OTHER, name))
            who = thief.create(own, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
            assert who["status"]["userInfo"]["username"] == f"system:serviceaccount:{NAMESPACE}:{row.account}"
            assert who["status"]["userInfo"]["extra"]["authentication.kubernetes.io/node-name"] == [OTHER]
        for name in thieves:
            stage.admin.delete(f"{CORE}/namespaces/{NAMESPACE}/pods/{name}", 0)
        # The API server keeps the answer about a token for some seconds.
        for name, thief in thieves.items():
            until(lambda: "401" in refusal(thief, lambda api: api.get("/version")), f"the end of {name}")  # noqa: B023
