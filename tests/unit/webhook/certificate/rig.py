"""The parts that keep a certificate, on a virtual clock and an API server of the test's own."""

import base64
import ssl
import time
from typing import Any

from probelet.kube.kinds import MUTATING_WEBHOOKS, SECRETS
from probelet.webhook.certificate.authority import Kept
from probelet.webhook.certificate.self_signed import SelfSigned
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.metrics import WebhookMetrics

from tests.support.kube_api import KubeApi
from tests.unit.kube.virtual_clock import VirtualClock

NAMESPACE, SECRET, CONFIGURATION = "probelet-system", "probelet-webhook-certificate", "zz-probelet"
HOSTS = ("probelet-webhook.probelet-system.svc", "127.0.0.1")
DAY = 86_400


class RealDays(VirtualClock):
    """A virtual clock whose wall time begins now: OpenSSL checks dates by the machine's own clock."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead = time.time_ns() - self.now()

    def wall_ns(self) -> int:
        return self._ahead + self.now()


class Replica:
    """One webhook's part that keeps the certificate."""

    def __init__(self, api: KubeApi, clock: VirtualClock, configuration: str | None = CONFIGURATION) -> None:
        self.metrics = WebhookMetrics()
        self.served = ServedCertificate(self.metrics, clock.wall_ns)
        self.connection = api.connection()
        self.self_signed = SelfSigned(
            self.connection, NAMESPACE, SECRET, HOSTS, configuration, self.served, self.metrics, clock
        )

    @property
    def chain(self) -> bytes:
        assert self.served.pair is not None
        return self.served.pair.chain


def configure(api: KubeApi, **bundles: str | None) -> None:
    """A configuration whose webhooks have these caBundles."""
    webhooks = [
        {
            "name": name,
            "clientConfig": {"service": {"name": "probelet-webhook"}, **({"caBundle": text} if text else {})},
        }
        for name, text in bundles.items()
    ]
    api.put(MUTATING_WEBHOOKS, {"metadata": {"name": CONFIGURATION}, "webhooks": webhooks})


def bundles(api: KubeApi) -> dict[str, bytes]:
    found = api.get(MUTATING_WEBHOOKS, CONFIGURATION)
    assert found is not None
    return {one["name"]: base64.b64decode(one["clientConfig"].get("caBundle", "")) for one in found["webhooks"]}


def secret(api: KubeApi) -> dict[str, Any]:
    found = api.get(SECRETS, SECRET, NAMESPACE)
    assert found is not None
    return found


def kept(api: KubeApi) -> Kept:
    return Kept.of({key: base64.b64decode(text) for key, text in secret(api)["data"].items()})


def put(api: KubeApi, value: Kept) -> None:
    """Writes the Secret."""
    data = {key: base64.b64encode(content).decode() for key, content in value.data.items()}
    metadata = {"name": SECRET, "namespace": NAMESPACE, "labels": {"a": "b"}}
    api.put(SECRETS, {"metadata": metadata, "type": "kubernetes.io/tls", "data": data})


def shown(context: ssl.SSLContext) -> bytes:
    """The certificate (DER) that a server with this context shows."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname, client_context.verify_mode = False, ssl.CERT_NONE
    client = client_context.wrap_bio(back, there)
    server = context.wrap_bio(there, back, server_side=True)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    found = client.getpeercert(binary_form=True)
    assert found is not None
    return found
