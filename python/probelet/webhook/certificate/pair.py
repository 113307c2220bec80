"""A certificate with its key, as PEM, and the dates of its first certificate."""

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Final

from probelet._rust import certificate_validity
from probelet.errors import InvalidInputError, ProbeletError

PEM_BYTES_MAX: Final = 1024 * 1024
"""The API server takes no larger Secret."""

_BLOCK: Final = re.compile(rb"-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----", re.ASCII)


class CertificateError(ProbeletError):
    """A certificate that cannot be used; one line."""


@dataclass(frozen=True, slots=True)
class CertificatePair:
    """A server's certificate and key. ``chain`` begins with the server's own certificate."""

    chain: bytes
    key: bytes = field(repr=False)
    not_before: int
    """Unix seconds, as ``not_after``: the first and the last second of the server's own certificate."""
    not_after: int

    @classmethod
    def read(cls, chain: bytes, key: bytes) -> "CertificatePair":
        """Reads the dates of a PEM text. Whether the key fits, ``ServedCertificate.use`` finds out.

        Raises CertificateError.
        """
        found = certificates(chain)
        if not found:
            raise CertificateError("the certificate is not PEM: no CERTIFICATE block")
        not_before, not_after = validity(found[0])
        return cls(chain, key, not_before, not_after)


def certificates(pem: bytes) -> list[bytes]:
    """The certificates of a PEM text as DER, in their order. What is no valid base64 raises CertificateError."""
    try:
        return [base64.b64decode(b"".join(match[1].split()), validate=True) for match in _BLOCK.finditer(pem)]
    except binascii.Error as error:
        raise CertificateError(f"a CERTIFICATE block is not base64: {error}") from None


def validity(certificate: bytes) -> tuple[int, int]:
    """The first and the last second of a certificate (DER). Raises CertificateError."""
    try:
        return certificate_validity(certificate)
    except InvalidInputError as error:
        raise CertificateError(str(error)) from None


def der_of_key(text: bytes) -> bytes:
    """The key of a PEM block ``PRIVATE KEY``. Raises CertificateError."""
    match = re.search(rb"-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----", text)
    if match is None:
        raise CertificateError("the key is not PEM: no PRIVATE KEY block")
    try:
        return base64.b64decode(b"".join(match[1].split()), validate=True)
    except binascii.Error as error:
        raise CertificateError(f"the PRIVATE KEY block is not base64: {error}") from None
