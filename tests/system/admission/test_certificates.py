"""Certificates with a real API server: replicas that race, a certificate that has expired, one that is not trusted."""

import base64
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from probelet._rust import issue_certificate, make_authority
from probelet.base.pem import pem
from probelet.webhook.certificate.pair import certificates
from probelet.webhook.certificate.self_signed import LOOK_NS

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json
from tests.system.admission.objects import ADMISSION, account, allow, client_of, until, user
from tests.system.admission.test_takeover import PROBES, made, web
from tests.system.admission.webhook import WebhookProcess, configure, configured, forget

pytestmark = pytest.mark.e2e

Start = Callable[..., WebhookProcess]
DAY = 86_400


@pytest.fixture
def start(api: ApiServer, namespace: str, tmp_path: Path) -> Iterator[Start]:
    """Starts replicas whose namespace is the test's; they end with it."""
    begun: list[WebhookProcess] = []

    def begin(*flags: str) -> WebhookProcess:
        begun.append(WebhookProcess(tmp_path / f"replica-{len(begun)}", "--namespace", namespace, *flags))
        return begun[-1]

    yield begin
    for process in begun:
        process.stop()


@pytest.fixture
def configuration(api: ApiServer, namespace: str) -> Iterator[str]:
    """The name of a configuration that goes with the test, if it made one."""
    yield namespace
    names = [one["metadata"]["name"] for one in api.admin.get(f"{ADMISSION}/mutatingwebhookconfigurations")["items"]]
    if namespace in names:
        forget(api, namespace)


def self_signed(api: ApiServer, *flags: str) -> tuple[str, ...]:
    return ("--self-signed", "--host", "127.0.0.1", "--kubeconfig", str(api.kubeconfig), *flags)


def is_taken_over(pod: Json) -> bool:
    """True or false; a pod with half of it is neither."""
    has_probes = "livenessProbe" in pod["spec"]["containers"][0]
    has_annotation = PROBES in pod["metadata"].get("annotations", {})
    assert has_probes != has_annotation
    return has_annotation


def served_by(process: WebhookProcess) -> bytes:
    """The certificate that a replica shows."""
    port = int(process.url.rsplit(":", 1)[1])
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))


def test_two_replicas_race_for_the_secret_and_serve_the_same_certificate(
    api: ApiServer, start: Start, namespace: str, configuration: str
) -> None:
    replicas = [start(*self_signed(api, "--configuration", configuration)) for _ in range(2)]
    shown = [served_by(replica) for replica in replicas]
    assert shown[0] == shown[1]
    path = f"/api/v1/namespaces/{namespace}/secrets"
    secrets = api.admin.get(path)["items"]
    assert [secret["metadata"]["name"] for secret in secrets] == ["probelet-webhook-certificate"]
    assert secrets[0]["type"] == "kubernetes.io/tls"
    chain = base64.b64decode(secrets[0]["data"]["tls.crt"])
    assert certificates(chain) == [shown[0]]
    written = [line for replica in replicas for line in replica.log if line["message"] == "wrote a certificate"]
    assert len(written) == 1
    # Either replica answers, for one bundle.
    for replica in replicas:
        configure(api, replica.url, name=configuration, caBundle=secrets[0]["data"]["ca.crt"])
        until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "a call")
        forget(api, configuration)


def test_a_replica_that_starts_makes_the_bundle_right(api: ApiServer, start: Start, configuration: str) -> None:
    first = start(*self_signed(api))
    configure(api, first.url, name=configuration)
    assert not is_taken_over(made(api, "default", web()))
    assert "caBundle" not in configured(api, configuration)["clientConfig"]
    second = start(*self_signed(api, "--configuration", configuration))
    second.line("patched the caBundle")
    until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "a call")


def test_a_webhook_that_somebody_adds_to_the_configuration_is_trusted_at_once(
    api: ApiServer, start: Start, configuration: str
) -> None:
    replica = start(*self_signed(api, "--configuration", configuration))
    configure(api, replica.url, name=configuration)
    until(lambda: "caBundle" in configured(api, configuration)["clientConfig"], "the first bundle")
    path = f"{ADMISSION}/mutatingwebhookconfigurations/{configuration}"
    before = time.monotonic()
    for _ in range(10):
        found = api.admin.get(path)
        added = {**found["webhooks"][0], "name": "added.example.com"}
        added["clientConfig"] = {key: value for key, value in added["clientConfig"].items() if key != "caBundle"}
        api.admin.call("PUT", path, {**found, "webhooks": [found["webhooks"][0], added]})
        until(lambda: all("caBundle" in one["clientConfig"] for one in api.admin.get(path)["webhooks"]), "both bundles")
    assert time.monotonic() - before < LOOK_NS / 1e9, "it did not wait for its next look"


def files(folder: Path, begin: int, end: int) -> tuple[tuple[str, ...], str]:
    """Flags with a certificate in files that holds between two days from now, and its authority for a caBundle."""
    now = int(time.time())
    certificate, key = make_authority("test", now - 400 * DAY, now + 400 * DAY)
    chain, server_key = issue_certificate("test", key, ["127.0.0.1"], now + begin * DAY, now + end * DAY)
    folder.mkdir(exist_ok=True)
    (folder / "tls.crt").write_bytes(pem("CERTIFICATE", chain))
    (folder / "tls.key").write_bytes(pem("PRIVATE KEY", server_key))
    flags = ("--cert-file", str(folder / "tls.crt"), "--key-file", str(folder / "tls.key"))
    return flags, base64.b64encode(pem("CERTIFICATE", certificate)).decode()


def test_an_expired_certificate_leaves_pods_native_until_its_files_are_renewed(
    api: ApiServer, start: Start, configuration: str, tmp_path: Path
) -> None:
    flags, bundle = files(tmp_path / "tls", -30, -1)
    webhook = start(*flags)
    configure(api, webhook.url, name=configuration, caBundle=bundle)
    before = time.monotonic()
    assert not is_taken_over(made(api, "default", web()))
    assert time.monotonic() - before < 5
    status, why = webhook.page("/readyz")
    assert (status, why.partition(":")[0]) == (503, "the certificate has expired")
    _, bundle = files(tmp_path / "tls", -1, 30)
    path = f"{ADMISSION}/mutatingwebhookconfigurations/{configuration}"
    patch = [{"op": "replace", "path": "/webhooks/1/clientConfig/caBundle", "value": bundle}]
    api.admin.patch(path, patch, "application/json-patch+json")
    until(webhook.is_ready, "the files to be read again")
    until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "a call")


def test_a_certificate_that_the_api_server_does_not_trust_leaves_pods_native(
    api: ApiServer, start: Start, configuration: str, tmp_path: Path
) -> None:
    flags, _ = files(tmp_path / "tls", -1, 30)
    _, other = files(tmp_path / "other", -1, 30)
    webhook = start(*flags)
    for client in ({}, {"caBundle": other}):
        configure(api, webhook.url, name=configuration, **client)
        assert not is_taken_over(made(api, "default", web()))
        forget(api, configuration)


def test_pods_are_native_while_the_webhook_is_away(
    api: ApiServer, start: Start, configuration: str, tmp_path: Path
) -> None:
    flags, bundle = files(tmp_path / "tls", -1, 30)
    webhook = start(*flags)
    configure(api, webhook.url, name=configuration, caBundle=bundle)
    until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "a call")
    webhook.stop()
    before = time.monotonic()
    assert not is_taken_over(made(api, "default", web()))
    assert time.monotonic() - before < 5


def test_a_webhook_that_ends_answers_until_its_requests_go_elsewhere(
    api: ApiServer, start: Start, configuration: str, tmp_path: Path
) -> None:
    flags, bundle = files(tmp_path / "tls", -1, 30)
    webhook = start(*flags)
    configure(api, webhook.url, name=configuration, caBundle=bundle)
    until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "a call")
    webhook.terminate()
    until(lambda: not webhook.is_ready(), "the end to be announced")
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert is_taken_over(made(api, "default", web(), "?dryRun=All"))
    assert webhook.process.wait(30) == 0
    assert not is_taken_over(made(api, "default", web()))


def test_missing_rights_are_said_by_verb_and_resource(
    api: ApiServer, start: Start, namespace: str, configuration: str
) -> None:
    kubeconfig = str(api.kubeconfig_of("plain", "plain-token"))
    flags = ("--self-signed", "--host", "127.0.0.1", "--kubeconfig", kubeconfig, "--configuration", configuration)
    webhook = start(*flags)
    until(lambda: "Forbidden" in webhook.page("/readyz")[1], "the trouble")
    status, why = webhook.page("/readyz")
    assert status == 503
    assert f"get secrets {namespace}/probelet-webhook-certificate: Forbidden" in why
    assert 'cannot get resource "secrets"' in why
    allow(api, "plain", user("plain"), ("", "secrets", ["get", "create", "update"]))
    until(webhook.is_ready, "the certificate")
    lines = [line for line in webhook.log if line["message"] == "no new certificate"]
    assert any("get mutatingwebhookconfigurations" in line["error"] for line in lines)


def test_the_rights_of_the_manifests_are_enough(
    api: ApiServer, policy: None, start: Start, namespace: str, configuration: str
) -> None:
    """A webhook that may create Secrets, and else knows its two objects by name, under the policies for its account."""
    certificate = ("", "secrets", ["get", "update"], "probelet-webhook-certificate")
    own = (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        ["get", "list", "watch", "patch"],
        configuration,
    )
    account(api, namespace, "probelet-webhook", ("", "secrets", ["create"]), certificate, own)
    token = client_of(api, namespace, "probelet-webhook", node="node-a").token
    kubeconfig = str(api.kubeconfig_of(namespace, token))
    flags = ("--self-signed", "--host", "127.0.0.1", "--kubeconfig", kubeconfig, "--configuration", configuration)
    webhook = start(*flags)
    configure(api, webhook.url, name=configuration)
    until(lambda: is_taken_over(made(api, "default", web(), "?dryRun=All")), "the caBundle and a call")
    assert webhook.is_ready()
    assert not [line for line in webhook.log if "Forbidden" in str(line)]
