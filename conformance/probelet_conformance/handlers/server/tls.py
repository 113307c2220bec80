"""TLS as a case sets it: versions, ciphers, certificates, and the client's offer."""

import ssl
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSIONS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
# Go's names of TLS 1.2 cipher suites -> OpenSSL's.
CIPHERS = {
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
}
# OpenSSL is built without 3DES. No client here offers Camellia either, so the server refuses it in the same way.
OFFERED_BY_NOBODY = "CAMELLIA256-SHA"

ALERT_NO_PROTOCOL = bytes([0x15, 3, 3, 0, 2, 2, 120])
RECORD_HEADER_BYTES = 5
SERVER_NAME, ALPN = 0, 16


def context_of(wanted: Mapping[str, Any], certificate: Path) -> ssl.SSLContext:
    """The server's context from a case's `tls`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = [CIPHERS.get(name, OFFERED_BY_NOBODY) for name in wanted.get("ciphers", ())]
    context.set_ciphers(":".join([*(names or ["ALL"]), "@SECLEVEL=0"]))
    context.maximum_version = VERSIONS[wanted.get("max", "1.3")]
    if "min" in wanted:
        context.minimum_version = VERSIONS[wanted["min"]]
    context.load_cert_chain(certificate)
    if protocols := wanted.get("alpn"):
        context.set_alpn_protocols(protocols)
    if auth := wanted.get("client_auth"):
        context.verify_mode = ssl.CERT_OPTIONAL if auth == "request" else ssl.CERT_REQUIRED
    return context


@dataclass(frozen=True)
class Hello:
    """The parts of a ClientHello that depend on the probe."""

    server_name: str
    alpn: tuple[str, ...]

    @classmethod
    def of(cls, record: bytes) -> "Hello | None":
        """Parses a record; None if it is no ClientHello."""
        if len(record) < RECORD_HEADER_BYTES + 1 or record[0] != 0x16 or record[5] != 1:
            return None
        server_name, alpn = "", []
        for kind, body in _extensions(record):
            if kind == SERVER_NAME:
                server_name = body[5:].decode()
            elif kind == ALPN:
                rest = body[2:]
                while rest:
                    alpn.append(rest[1 : 1 + rest[0]].decode())
                    rest = rest[1 + rest[0] :]
        return cls(server_name, tuple(alpn))

    def fits(self, protocols: list[str]) -> bool:
        """True if a Go server with these protocols continues: it refuses a client that shares none of them."""
        return not protocols or not self.alpn or bool(set(protocols) & set(self.alpn))


def _extensions(record: bytes) -> list[tuple[int, bytes]]:
    # Record header, handshake header, version, random; then three lists of different width.
    at = RECORD_HEADER_BYTES + 4 + 2 + 32
    at += 1 + record[at]
    at += 2 + struct.unpack_from(">H", record, at)[0]
    at += 1 + record[at]
    found = []
    at += 2
    while at + 4 <= len(record):
        kind, length = struct.unpack_from(">HH", record, at)
        found.append((kind, record[at + 4 : at + 4 + length]))
        at += 4 + length
    return found
