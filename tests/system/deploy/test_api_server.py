"""A real API server takes every object of the manifests, and each account has the rights that it needs and no other."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cluster.control_plane.plane import Kubectl
from tests.system.deploy.conftest import Administrator
from tests.system.deploy.rendered import Name, kustomized, name
from tests.unit.deploy.manifests.manifest import BASE, NAMESPACE, OVERLAYS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

# These kinds are cert-manager's: test_foreign_kinds.py brings their CRDs.
FOREIGN = {"Certificate", "Issuer"}


def taken(kubectl: Kubectl, objects: list[dict[str, object]]) -> set[Name]:
    """The names of the objects that the API server takes, all of them or none."""
    text = yaml.safe_dump_all(objects)
    rows = kubectl(
        "apply", "--server-side", "--dry-run=server", "--force-conflicts", "-o", "json", "-f", "-", stdin=text
    )
    items = json.loads(rows)
    return {name(one) for one in items.get("items", [items])}


@pytest.mark.parametrize("folder", [BASE, *sorted(OVERLAYS.iterdir())], ids=lambda folder: folder.name)
def test_it_takes_every_object(applied: Kubectl, folder: Path) -> None:
    objects = {key: one for key, one in kustomized(folder).items() if one["kind"] not in FOREIGN}
    assert taken(applied, list(objects.values())) == objects.keys()


def test_what_is_applied_is_what_is_kept(applied: Kubectl) -> None:
    assert applied("diff", "-k", BASE) == ""


def test_an_apply_leaves_the_certificate_of_the_webhook_in_its_place(applied: Kubectl) -> None:
    patch = '[{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Cg=="}]'
    applied("patch", "mutatingwebhookconfiguration", "zz-probelet", "--type=json", "-p", patch)
    applied("apply", "-k", BASE)
    kept = json.loads(applied("get", "mutatingwebhookconfiguration", "zz-probelet", "-o", "json"))
    assert kept["webhooks"][0]["clientConfig"]["caBundle"] == "Cg=="


def may(administrator: Administrator, account: str, verb: str, thing: str, namespace: str = NAMESPACE) -> bool:
    """The API server's answer; ``thing`` is RESOURCE[.GROUP][/SUBRESOURCE][=NAME]."""
    resource, _, named = thing.partition("=")
    resource, _, subresource = resource.partition("/")
    resource, _, group = resource.partition(".")
    asked = {"verb": verb, "resource": resource, "group": group, "subresource": subresource}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{NAMESPACE}:{account}",
            "resourceAttributes": {**asked, "name": named, "namespace": namespace},
        },
    }
    answer = administrator.control.api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    allowed: bool = answer["status"]["allowed"]
    return allowed


AGENT = [
    ("list", "pods", "default"),
    ("watch", "pods", "default"),
    ("list", "namespaces", "default"),
    ("patch", "pods/status", "default"),
    ("create", "events", "default"),
    ("create", "leases.coordination.k8s.io", NAMESPACE),
    ("update", "leases.coordination.k8s.io", NAMESPACE),
]
WEBHOOK = [
    ("create", "secrets", NAMESPACE),
    ("get", "secrets=probelet-webhook-certificate", NAMESPACE),
    ("patch", "mutatingwebhookconfigurations.admissionregistration.k8s.io=zz-probelet", ""),
]


@pytest.mark.parametrize(("account", "rights"), [("probelet-agent", AGENT), ("probelet-webhook", WEBHOOK)])
@pytest.mark.usefixtures("applied")
def test_each_account_may_do_its_work(
    administrator: Administrator, account: str, rights: list[tuple[str, str, str]]
) -> None:
    assert [right for right in rights if not may(administrator, account, *right)] == []


@pytest.mark.parametrize(
    ("account", "verb", "resource", "namespace"),
    [
        ("probelet-agent", "get", "secrets", NAMESPACE),
        ("probelet-agent", "delete", "pods", "default"),
        ("probelet-agent", "patch", "pods", "default"),
        ("probelet-agent", "create", "pods/exec", "default"),
        ("probelet-agent", "create", "pods/eviction", "default"),
        ("probelet-agent", "create", "pods/binding", "default"),
        ("probelet-agent", "update", "leases.coordination.k8s.io", "kube-node-lease"),
        ("probelet-agent", "list", "nodes", "default"),
        ("probelet-agent", "patch", "namespaces", "default"),
        ("probelet-webhook", "get", "secrets", NAMESPACE),
        ("probelet-webhook", "get", "secrets=another", NAMESPACE),
        ("probelet-webhook", "create", "secrets", "default"),
        ("probelet-webhook", "list", "pods", "default"),
        ("probelet-webhook", "patch", "mutatingwebhookconfigurations.admissionregistration.k8s.io=another", ""),
        ("probelet-webhook", "create", "mutatingwebhookconfigurations.admissionregistration.k8s.io", ""),
    ],
)
@pytest.mark.usefixtures("applied")
def test_no_account_may_do_more(
    administrator: Administrator, account: str, verb: str, resource: str, namespace: str
) -> None:
    assert not may(administrator, account, verb, resource, namespace)
