"""Certificates for a server on loopback, by openssl(1)."""

import shutil
import ssl
import subprocess
from pathlib import Path

from tests.support.required import missing

NAME = "kubernetes.default.svc"


def make_certificates(folder: Path) -> ssl.SSLContext:
    """Makes an authority (``ca.crt``) and a certificate for ``NAME`` and 127.0.0.1; returns the server's side."""
    if shutil.which("openssl") is None:
        missing("openssl", "install openssl")
    (folder / "extensions").write_text(f"subjectAltName=DNS:{NAME},IP:127.0.0.1\n")
    _openssl(
        folder,
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -days 2 "
        "-subj /CN=test-ca",
    )
    _openssl(
        folder,
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.csr -subj /CN=kube-apiserver",
    )
    _openssl(
        folder,
        "x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out tls.crt",
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def _openssl(folder: Path, arguments: str) -> None:
    subprocess.run(["openssl", *arguments.split()], cwd=folder, check=True, capture_output=True)
