"""The text form of certificates and keys (RFC 7468)."""

import base64


def pem(label: str, der: bytes) -> bytes:
    """A PEM block: ``CERTIFICATE``, or ``PRIVATE KEY`` for a key as PKCS #8."""
    text = base64.encodebytes(der).replace(b"\n", b"")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return b"\n".join([f"-----BEGIN {label}-----".encode(), *lines, f"-----END {label}-----".encode(), b""])
