"""What the mapping writes for a pod comes back from the API server, through the kind's own schema, as what the pod's
annotation asks for."""

import json

import pytest
from probelet.beside.guard.mapping.entry import entry_of
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.probes.asked import asked_of, unasked
from probelet.beside.probes.wanted import read_wanted
from probelet.spec.model.pod_object import read_pod_object

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json
from tests.system.admission.objects import KRUISE, pod, pods_of

pytestmark = pytest.mark.e2e

IP = "10.1.2.3"
PROBES: list[Json] = [
    {"exec": {"command": ["sh", "-c", "a && b <c >d"]}},
    {"exec": {"command": [""]}, "periodSeconds": 3},
    {"httpGet": {"port": 80}},
    {"httpGet": {"port": "web", "path": "/live?a=1", "scheme": "HTTPS", "httpHeaders": [{"name": "A", "value": ""}]}},
    {"httpGet": {"port": 80, "host": IP}},
    {"tcpSocket": {"port": "web"}, "failureThreshold": 1},
    {"tcpSocket": {"port": 80, "host": IP}},
    {"grpc": {"port": 80}},
    {"grpc": {"port": 80, "service": ""}},
    {"grpc": {"port": 80, "service": "a.b"}, "terminationGracePeriodSeconds": 7},
]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: json.dumps(probe)[:40])
def test_it_is_what_the_annotation_asks_for(api: ApiServer, kinds: None, namespace: str, probe: Json) -> None:
    context = json.dumps([{"name": "app", "livenessProbe": probe}])
    body = pod("web", annotations={OPT_IN: "true", CONTEXT: context})
    body["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8080}]
    api.admin.create(pods_of(namespace), body)
    status = {"phase": "Running", "podIP": IP, "podIPs": [{"ip": IP}]}
    made = api.admin.patch(f"{pods_of(namespace)}/web/status", {"status": status})
    guarded = read_pod(made)
    assert guarded is not None
    entry = entry_of(guarded, "seed", None)
    assert entry.problems == []
    kind = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "NodePodProbe", "metadata": {"name": namespace}}
    stored = api.admin.create(f"{KRUISE}/nodepodprobes", {**kind, "spec": {"podProbes": [entry.body]}})
    (wanted,) = read_wanted(stored).values()
    assert (wanted.problem, unasked(wanted, asked_of(read_pod_object(made)))) == ("", "")
