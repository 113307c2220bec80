"""What the webhook's token may write: the caBundle of its configuration, and its certificate.

An API server asks no webhook about its own admission configuration, and no policy about policies; it does ask policies
about MutatingWebhookConfigurations (k8s.io/apiserver pkg/admission/plugin/policy/generic/plugin.go, 1.36). The tests
here fail if a release does not.
"""

import base64
import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from probelet._rust import make_authority
from probelet.base.pem import pem

from tests.support.paths import ROOT
from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import JSON_PATCH, Client, Json, Refused
from tests.system.admission.injector import Injector
from tests.system.admission.objects import (
    ADMISSION,
    account,
    allow,
    client_of,
    documents,
    pod,
    pods_of,
    until,
    user,
)

pytestmark = pytest.mark.e2e

SYSTEM = "probelet-configured"
KIND = f"{ADMISSION}/mutatingwebhookconfigurations"
SECRETS = f"/api/v1/namespaces/{SYSTEM}/secrets"
CERTIFICATE = "probelet-webhook-certificate"
EVERY = ["get", "create", "update", "patch", "delete"]
CONFIGURATION = ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", EVERY)
BUNDLES = "changes nothing of its configuration but each caBundle"


@pytest.fixture(scope="module")
def webhook(api: ApiServer, policy: None) -> Client:
    """The webhook, with more rights than its roles give: the policy is what is tested."""
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    account(api, SYSTEM, "probelet-webhook", CONFIGURATION, ("", "secrets", EVERY))
    allow(api, "configures-webhooks", user("operator"), CONFIGURATION, ("", "secrets", EVERY))
    client = client_of(api, SYSTEM, "probelet-webhook", node="node-a")

    def is_in_force(path: str, said: str) -> bool:
        try:
            client.create(f"{path}?dryRun=All", {"metadata": {"name": "canary"}})
        except Refused as refused:
            return said in str(refused)
        return False

    until(lambda: is_in_force(KIND, "creates and deletes no configuration"), "the policy of configurations")
    until(lambda: is_in_force(SECRETS, "writes no Secret but"), "the policy of Secrets")
    return client


@pytest.fixture
def path(api: ApiServer) -> Iterator[str]:
    """The path of the configuration of the manifests with enhanced liveness, which is called for nothing here."""
    kustomize = ROOT / "deploy" / "kustomize"
    (body,) = documents(kustomize / "base" / "webhook" / "configuration.yaml")
    patches = yaml.safe_load((kustomize / "components" / "enhanced-liveness" / "webhook.yaml").read_text())
    body["webhooks"] += [each["value"] for each in patches]
    for each in body["webhooks"]:
        each["namespaceSelector"] = {"matchLabels": {"no": "namespace"}}
    api.admin.create(KIND, body)
    yield f"{KIND}/zz-probelet"
    api.admin.delete(f"{KIND}/zz-probelet")


def bundle() -> str:
    return base64.b64encode(pem("CERTIFICATE", make_authority("test", 0, 4_000_000_000)[0])).decode()


def test_it_writes_each_ca_bundle(api: ApiServer, webhook: Client, path: str) -> None:
    count = len(api.admin.get(path)["webhooks"])
    for text in (bundle(), bundle()):
        operations = [
            {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": text} for index in range(count)
        ]
        found = webhook.patch(path, operations, JSON_PATCH)
        assert [one["clientConfig"]["caBundle"] for one in found["webhooks"]] == [text] * count


CHANGES: dict[str, Any] = {
    "name": "other.probelet.dev",
    "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"], "scope": "*"}],
    "failurePolicy": "Fail",
    "matchPolicy": "Exact",
    "namespaceSelector": {},
    "objectSelector": {},
    "sideEffects": "NoneOnDryRun",
    "timeoutSeconds": 30,
    "admissionReviewVersions": ["v1", "v1beta1"],
    "reinvocationPolicy": "Never",
    "matchConditions": [{"name": "always", "expression": "true"}],
}
CLIENTS: dict[str, Any] = {
    "url": "https://192.0.2.1/",
    "service": {"name": "thief", "namespace": "default", "path": "/", "port": 443},
}


@pytest.mark.parametrize("field", CHANGES)
def test_it_changes_no_other_field(api: ApiServer, webhook: Client, path: str, field: str) -> None:
    found = api.admin.get(path)
    first = found["webhooks"][0]
    assert first.get(field) != CHANGES[field]
    changed = {**found, "webhooks": [{**first, field: CHANGES[field]}, *found["webhooks"][1:]]}
    with pytest.raises(Refused, match=BUNDLES):
        webhook.call("PUT", path, changed)
    api.user("operator").call("PUT", path, changed)


@pytest.mark.parametrize("field", CLIENTS)
def test_it_leads_the_calls_nowhere_else(api: ApiServer, webhook: Client, path: str, field: str) -> None:
    found = api.admin.get(path)
    first = {**found["webhooks"][0], "clientConfig": {field: CLIENTS[field], "caBundle": bundle()}}
    with pytest.raises(Refused, match=BUNDLES):
        webhook.call("PUT", path, {**found, "webhooks": [first, *found["webhooks"][1:]]})


def test_it_adds_removes_and_moves_no_webhook(api: ApiServer, webhook: Client, path: str) -> None:
    found = api.admin.get(path)
    one, *others = found["webhooks"]
    for webhooks in ([*others, one], others, [], [one, *others, {**one, "name": "more.probelet.dev"}]):
        with pytest.raises(Refused, match=BUNDLES):
            webhook.call("PUT", path, {**found, "webhooks": copy.deepcopy(webhooks)})


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"a": "b"}},
        {"annotations": {"cert-manager.io/inject-ca-from": "default/thief"}},
        {"finalizers": ["example.com/stay"]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": "u"}]},
    ],
)
def test_it_leaves_the_metadata_as_they_are(webhook: Client, path: str, metadata: Json) -> None:
    with pytest.raises(Refused, match="leaves the metadata of its configuration as they are"):
        webhook.patch(path, {"metadata": metadata})


def test_it_creates_and_deletes_no_configuration(webhook: Client, path: str) -> None:
    for call in (
        lambda: webhook.delete(path),
        lambda: webhook.create(KIND, {"metadata": {"name": "another"}, "webhooks": []}),
    ):
        with pytest.raises(Refused, match="creates and deletes no configuration"):
            call()


def test_the_policy_names_every_field_that_the_api_server_has(api: ApiServer) -> None:
    """A field of a later release that nobody compares would be one that a thief may change."""
    schemas = api.admin.get("/openapi/v3/apis/admissionregistration.k8s.io/v1")["components"]["schemas"]
    prefix = "io.k8s.api.admissionregistration.v1"
    fields = set(schemas[f"{prefix}.MutatingWebhook"]["properties"])
    clients = set(schemas[f"{prefix}.WebhookClientConfig"]["properties"])
    assert fields == {*CHANGES, "clientConfig"}
    assert clients == {*CLIENTS, "caBundle"}
    whole = schemas[f"{prefix}.MutatingWebhookConfiguration"]["properties"]
    assert set(whole) == {"apiVersion", "kind", "metadata", "webhooks"}


def secret(name: str, type: str = "kubernetes.io/tls", **metadata: Any) -> Json:
    data = {} if type != "kubernetes.io/tls" else {"tls.crt": "Cg==", "tls.key": "Cg=="}
    return {"metadata": {"name": name, **metadata}, "type": type, "data": data}


def test_it_makes_and_renews_its_certificate(webhook: Client) -> None:
    made = webhook.create(SECRETS, secret(CERTIFICATE))
    webhook.call("PUT", f"{SECRETS}/{CERTIFICATE}", {**made, "data": {**made["data"], "ca.crt": "Cg=="}})
    webhook.delete(f"{SECRETS}/{CERTIFICATE}")


def test_it_makes_no_other_secret(webhook: Client) -> None:
    with pytest.raises(Refused, match="writes no Secret but probelet-webhook-certificate"):
        webhook.create(SECRETS, secret("another"))


def test_it_has_no_token_of_another_account_made(api: ApiServer, webhook: Client) -> None:
    """A controller puts a token into a Secret of this type, and the webhook may read its own Secret."""
    of = {"kubernetes.io/service-account.name": "probelet-webhook"}
    wanted = secret(CERTIFICATE, "kubernetes.io/service-account-token", annotations=of)
    with pytest.raises(Refused, match=r"of no type but kubernetes\.io/tls"):
        webhook.create(SECRETS, wanted)
    api.user("operator").create(f"{SECRETS}?dryRun=All", wanted)


def test_a_false_webhook_changes_new_pods_that_ask_and_no_others(api: ApiServer, namespace: str, path: str) -> None:
    """What remains for a thief who answers in its place: the configuration bounds it, and no webhook changes that."""
    false = {"name": "thief", "image": "registry.local/thief:1", "securityContext": {"privileged": True}}
    with Injector(false) as thief:
        found = api.admin.get(path)
        bundle = base64.b64encode(thief.authority).decode()
        (probes,) = [one for one in found["webhooks"] if one["name"] == "probes.probelet.dev"]
        here = {**probes, "clientConfig": {"url": thief.url, "caBundle": bundle}, "namespaceSelector": {}}
        api.admin.call("PUT", path, {**found, "webhooks": [here]})

        def containers(**metadata: Any) -> list[str]:
            made = api.admin.create(f"{pods_of(namespace)}?dryRun=All", pod("web", **metadata))
            return [one["name"] for one in made["spec"]["containers"]]

        until(lambda: containers(labels={"probelet.dev/managed": "true"}) == ["app", "thief"], "a call")
        for labels in ({}, {"probelet.dev/managed": "false"}, {"app": "web"}):
            assert containers(labels=labels) == ["app"]
