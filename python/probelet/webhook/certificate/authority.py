"""The webhook's own authority and certificate, as they are kept: when they are renewed, and how. Pure but for keys.

The authority's key is kept beside the certificate, so that a new certificate needs no new caBundle. A reader of the
Secret could answer as the webhook with either.
"""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from probelet._rust import issue_certificate, make_authority
from probelet.base.pem import pem
from probelet.errors import InvalidInputError
from probelet.webhook.certificate.pair import CertificateError, CertificatePair, certificates, der_of_key, validity
from probelet.webhook.certificate.served import load, new_context

NAME: Final = "probelet webhook"
"""The authority's common name."""

DAY: Final = 86_400
SERVER_SECONDS: Final = 365 * DAY
"""Validity of the server's certificate. It is renewed when a third of that is left."""

AUTHORITY_SECONDS: Final = 10 * 365 * DAY
"""Validity of the authority. It is replaced when two server's certificates would no longer fit into the rest."""

BACKDATED_SECONDS: Final = 3600
"""Certificates hold from an hour ago on, because an API server's clock may be late."""


_NO_CHECK_TIME: Final = ssl.VerifyFlags(0x20_0000)
"""``X509_V_FLAG_NO_CHECK_TIME`` (openssl/x509_vfy.h, 3.0): time is an argument here, not the machine's clock."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An authority and a certificate for the server."""

    authorities: bytes
    """PEM: the authority, and those before it that still hold. The caBundle."""
    authority_key: bytes = field(repr=False)
    pair: CertificatePair

    @property
    def data(self) -> dict[str, bytes]:
        """The data of the Secret (type ``kubernetes.io/tls``)."""
        return {
            "ca.crt": self.authorities,
            "ca.key": self.authority_key,
            "tls.crt": self.pair.chain,
            "tls.key": self.pair.key,
        }

    @classmethod
    def of(cls, data: dict[str, bytes]) -> "Kept":
        """Reads the data of the Secret. Raises CertificateError for what is missing or cannot be read."""
        missing = [key for key in ("ca.crt", "ca.key", "tls.crt", "tls.key") if not data.get(key)]
        if missing:
            raise CertificateError(f"it has no {', '.join(missing)}")
        if not certificates(data["ca.crt"]):
            raise CertificateError("ca.crt is not PEM: no CERTIFICATE block")
        return cls(data["ca.crt"], data["ca.key"], CertificatePair.read(data["tls.crt"], data["tls.key"]))


def renewed(kept: Kept | None, hosts: Sequence[str], now: int) -> tuple[Kept, str] | None:
    """A replacement for ``kept``, and why; None if it serves every host and nothing of it ends soon.

    ``now`` is in Unix seconds. ``kept`` is None if there is none that can be read.
    """
    if kept is None:
        return _made(hosts, now, old=[]), "there was none"
    authorities = certificates(kept.authorities)
    try:
        ends = validity(authorities[0])[1]
    except CertificateError as error:
        return _made(hosts, now, old=[]), f"the authority: {error}"
    if ends - now < 2 * SERVER_SECONDS:
        return _made(hosts, now, old=authorities), "the authority ends soon"
    why = why_refused(kept, hosts)
    if why is None and 3 * (kept.pair.not_after - now) >= kept.pair.not_after - kept.pair.not_before:
        return None
    try:
        fresh = Kept(kept.authorities, kept.authority_key, _issued(der_of_key(kept.authority_key), hosts, now))
    except (CertificateError, InvalidInputError) as error:
        return _made(hosts, now, old=authorities), f"the authority's key: {error}"
    if why_refused(fresh, hosts) is not None:
        return _made(hosts, now, old=[]), "the authority's key is not that of its certificate"
    return fresh, why or "it ends soon"


def why_refused(kept: Kept, hosts: Sequence[str]) -> str | None:
    """Why a client that trusts the authorities refuses the server at one of ``hosts``, by a handshake in memory; None
    if it connects to each. Dates do not count.
    """
    server_context = new_context()
    try:
        load(server_context, kept.pair)
        client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client_context.verify_flags |= _NO_CHECK_TIME
        client_context.load_verify_locations(cadata=kept.authorities.decode("ascii", "replace"))
        for host in hosts:
            _shake_hands(server_context, client_context, host)
    except CertificateError as error:
        return str(error)
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except ssl.SSLError as error:
        return str(error.reason)
    return None


def _shake_hands(server_context: ssl.SSLContext, client_context: ssl.SSLContext, host: str) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(back, there, server_hostname=host)
    server = server_context.wrap_bio(there, back, server_side=True)
    # TLS 1.3 needs each side twice, TLS 1.2 three times.
    for side in (client, server, client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue


def _made(hosts: Sequence[str], now: int, old: Sequence[bytes]) -> Kept:
    """A new authority with a certificate; ``old`` authorities stay trusted while they hold."""
    begin = now - BACKDATED_SECONDS
    certificate, key = make_authority(NAME, begin, now + AUTHORITY_SECONDS)
    still = [one for one in old if _holds(one, now)]
    authorities = b"".join(pem("CERTIFICATE", one) for one in (certificate, *still))
    return Kept(authorities, pem("PRIVATE KEY", key), _issued(key, hosts, now))


def _holds(certificate: bytes, now: int) -> bool:
    try:
        return validity(certificate)[1] >= now
    except CertificateError:
        return False


def _issued(authority_key: bytes, hosts: Sequence[str], now: int) -> CertificatePair:
    begin, end = now - BACKDATED_SECONDS, now + SERVER_SECONDS
    certificate, key = issue_certificate(NAME, authority_key, hosts, begin, end)
    return CertificatePair(pem("CERTIFICATE", certificate), pem("PRIVATE KEY", key), begin, end)
