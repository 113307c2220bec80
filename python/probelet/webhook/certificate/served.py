"""The certificate in use. One TLS context serves all connections; a new certificate counts for the next handshake."""

import asyncio
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from probelet._rust import issue_certificate, make_authority
from probelet.base.exposition.timestamp import rfc3339
from probelet.base.pem import pem
from probelet.spec.text.duration import SECOND
from probelet.webhook.certificate.pair import CertificateError, CertificatePair
from probelet.webhook.metrics import WebhookMetrics

log = structlog.get_logger("probelet.webhook")

STAND_IN_SECONDS: Final = 3600
"""Validity of the certificate that only the pages use until there is a real one. No client verifies it."""


class ServedCertificate:
    """Holds the certificate in use; ``wall_ns`` is the wall clock.

    The context works from the beginning with a stand-in, so that the pages can say that there is no certificate yet.
    """

    def __init__(self, metrics: WebhookMetrics, wall_ns: Callable[[], int]) -> None:
        self.context = new_context()
        self.loaded = asyncio.Event()
        """Set with the first certificate."""
        self.pair: CertificatePair | None = None
        self._metrics = metrics
        self._wall_ns = wall_ns
        self._trouble = ""
        load(self.context, stand_in(self.now_seconds()))

    def now_seconds(self) -> int:
        """Unix seconds."""
        return self._wall_ns() // SECOND

    def use(self, pair: CertificatePair) -> None:
        """Takes a certificate into use; the one before stays if this one cannot be used.

        Raises CertificateError for a key that does not fit, or a text that OpenSSL does not take.
        """
        if self.pair is not None and (pair.chain, pair.key) == (self.pair.chain, self.pair.key):
            return
        # A context of its own first: a chain that was taken stays in a context even if its key is refused.
        load(new_context(), pair)
        load(self.context, pair)
        self.pair, self._trouble = pair, ""
        self._metrics.loads += 1
        self._metrics.not_after = pair.not_after
        self.loaded.set()
        log.info("certificate in use", not_after=rfc3339(pair.not_after * 1000))

    def failed(self, why: str) -> None:
        """Notes and logs, once for each text in a row, why there is no newer certificate."""
        self._metrics.failures += 1
        if why != self._trouble:
            self._trouble = why
            log.error("no new certificate", error=why)

    def recovered(self) -> None:
        """Forgets the last trouble, so that the same one is logged again."""
        self._trouble = ""

    def why_not_ready(self) -> str | None:
        """Why an API server cannot call this server, in one line; None if it can."""
        if self.pair is None:
            return f"no certificate yet: {self._trouble or 'it is being made or read'}"
        now = self.now_seconds()
        if now > self.pair.not_after:
            return f"the certificate has expired: its last second was {rfc3339(self.pair.not_after * 1000)}"
        if now < self.pair.not_before:
            return f"the certificate holds from {rfc3339(self.pair.not_before * 1000)} on"
        return None


def stand_in(now: int) -> CertificatePair:
    """A certificate for pages whose clients verify none, from ``now`` in Unix seconds on."""
    _, authority = make_authority("probelet", now, now + STAND_IN_SECONDS)
    certificate, key = issue_certificate("probelet", authority, ["localhost"], now, now + STAND_IN_SECONDS)
    return CertificatePair(pem("CERTIFICATE", certificate), pem("PRIVATE KEY", key), now, now + STAND_IN_SECONDS)


def new_context() -> ssl.SSLContext:
    """A context for a server: TLS 1.2 and 1.3 (Go's default, so an API server's), no client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # A client could otherwise ask for one key exchange after another.
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


def load(context: ssl.SSLContext, pair: CertificatePair) -> None:
    """Puts a certificate into a context. Raises CertificateError."""
    try:
        with _readable(pair.chain.rstrip() + b"\n" + pair.key) as path:
            # Without the callback OpenSSL would ask a terminal for the passphrase of an encrypted key.
            context.load_cert_chain(path, password=lambda: b"")
    except ssl.SSLError as error:
        raise CertificateError(f"the certificate and its key cannot be used: {error.reason or error}") from None
    except OSError as error:
        raise CertificateError(f"the certificate and its key cannot be used: {error.strerror}") from None


@contextmanager
def _readable(content: bytes) -> Iterator[str]:
    """A path of ``content`` for a library that reads only files. It is memory: a key must not reach a disk."""
    descriptor = os.memfd_create("probelet-certificate", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
