"""A certificate without cert-manager: an authority and a certificate in one Secret that all replicas share.

Each replica looks at the Secret and at the configuration every ``LOOK_NS``, and as soon as the configuration changes: a
webhook that somebody adds to it lets pods pass until it has its caBundle. Both are read by their names alone, so that
RBAC can name them. Whichever replica comes first creates or renews, the others read what it wrote.
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

import structlog

from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.error import AlreadyExists, Conflict, KubeError, NotFound
from probelet.kube.kinds import SECRETS
from probelet.kube.pace import Pace
from probelet.kube.waiting import set_within
from probelet.webhook.certificate.authority import Kept, renewed
from probelet.webhook.certificate.ca_bundle import trust
from probelet.webhook.certificate.pair import CertificateError
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.metrics import WebhookMetrics

log = structlog.get_logger("probelet.webhook")

LOOK_NS: Final = 30_000_000_000
"""How often a replica looks: two requests."""

SETTLE_NS: Final = 5_000_000_000
"""How long a certificate of a new authority waits after the caBundle has it: an API server learns of it by a watch."""

REST_NS: Final = 1_000_000_000
"""The shortest time from a patch to a look because of a change: another program that writes caBundles leads to no
contest."""

RACES_MAX: Final = 5
"""How often in a row another replica may be first. There are two, and each writes once."""


class SelfSigned:
    """Keeps the Secret ``namespace/name`` and the configuration's caBundle right, and hands the certificate over.

    ``hosts`` are the DNS names and addresses by which API servers call. ``configuration`` is the name of the
    MutatingWebhookConfiguration, None to leave caBundles to somebody else.
    """

    def __init__(
        self,
        connection: Connection,
        namespace: str,
        name: str,
        hosts: Sequence[str],
        configuration: str | None,
        served: ServedCertificate,
        metrics: WebhookMetrics,
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._name = name
        self._hosts = hosts
        self._configuration = configuration
        self._served = served
        self._metrics = metrics
        self._clock = clock
        self._pace = Pace()
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """The configuration is another one now: the next look is soon."""
        self._changed.set()

    async def run(self) -> None:
        """Looks again and again; never returns. A failure is logged and tried again, and a certificate in use stays."""
        while True:
            self._changed.clear()
            before = self._metrics.ca_patches
            wait_ns = await self._look()
            rested_ns = self._clock.now() + (REST_NS if self._metrics.ca_patches != before else 0)
            if await set_within(self._clock, wait_ns, self._changed) and rested_ns > self._clock.now():
                await self._clock.sleep(rested_ns - self._clock.now())

    async def _look(self) -> int:
        """One look; returns the nanoseconds until the next one."""
        try:
            kept = await self._kept()
            await self._hand_over(kept)
        except KubeError as error:
            self._served.failed(str(error))
            return self._pace.after_failure(self._clock.now(), error.retry_after_ns)
        except CertificateError as error:
            self._served.failed(f"Secret {self._namespace}/{self._name}: {error}")
            return self._pace.after_failure(self._clock.now())
        self._served.recovered()
        return LOOK_NS

    async def _kept(self) -> Kept:
        """The Secret's content, created or renewed first if it has to be. Raises KubeError."""
        for _ in range(RACES_MAX - 1):
            try:
                return await self._kept_unless_raced()
            except (AlreadyExists, Conflict):
                # Another replica was first: what it wrote is as good.
                continue
        return await self._kept_unless_raced()

    async def _kept_unless_raced(self) -> Kept:
        try:
            secret = await self._connection.get(SECRETS, self._name, self._namespace)
        except NotFound:
            secret = None
        kept = None if secret is None else self._read(secret)
        fresh = renewed(kept, self._hosts, self._served.now_seconds())
        if fresh is None:
            assert kept is not None, "without one there is always a fresh one"
            return kept
        made, why = fresh
        if secret is None:
            await self._connection.create(SECRETS, self._object(made, None))
        else:
            await self._connection.replace(SECRETS, self._object(made, secret))
        log.info("wrote a certificate", secret=f"{self._namespace}/{self._name}", why=why)
        return made

    def _read(self, secret: dict[str, Any]) -> Kept | None:
        try:
            data = {key: base64.b64decode(text, validate=True) for key, text in (secret.get("data") or {}).items()}
            return Kept.of(data)
        except (CertificateError, binascii.Error) as error:
            log.warning("replacing a Secret", secret=f"{self._namespace}/{self._name}", error=str(error))
            return None

    def _object(self, kept: Kept, before: dict[str, Any] | None) -> dict[str, Any]:
        """The Secret with new data. Its labels, and its type, which cannot change, may be those of a tool that made it;
        the version of ``before`` makes the loser of a race a Conflict."""
        data = {key: base64.b64encode(value).decode() for key, value in kept.data.items()}
        if before is not None:
            return {**before, "data": data}
        labels = {"app.kubernetes.io/part-of": "probelet"}
        metadata = {"name": self._name, "namespace": self._namespace, "labels": labels}
        return {"metadata": metadata, "type": "kubernetes.io/tls", "data": data}

    async def _hand_over(self, kept: Kept) -> None:
        """Takes the certificate into use, once the API server trusts it: the caBundle comes first."""
        before = self._served.pair
        try:
            patched = await self._trusted(kept)
        except KubeError:
            if before is None:
                # Nobody trusts the stand-in either; with the certificate in use the rest is the configuration's.
                self._served.use(kept.pair)
            raise
        if patched and before is not None and before.chain != kept.pair.chain:
            await self._clock.sleep(SETTLE_NS)
        self._served.use(kept.pair)

    async def _trusted(self, kept: Kept) -> bool:
        if self._configuration is None:
            return False
        patched = await trust(self._connection, self._configuration, kept.authorities, self._served.now_seconds())
        if patched:
            self._metrics.ca_patches += 1
            log.info("patched the caBundle", configuration=self._configuration)
        return patched
