"""etcd and kube-apiserver on loopback, without the rest of a cluster: no root, no container runtime."""

import json
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.cluster.control_plane.plane import Flags, command
from tests.cluster.machine.program import Program
from tests.support.required import missing
from tests.system.containerd.machine import until

ADMIN, NODE = "admin-token", "node-token"
TOKENS = f'{ADMIN},admin,1,"system:masters"\n{NODE},system:node:node-a,2,"system:nodes"\n'


def assets() -> Path:
    """The folder of the binaries; without them the test is skipped."""
    if why := binaries.what_is_not_built("etcd", "kube-apiserver"):
        missing("kubernetes", why)
    if shutil.which("openssl") is None:
        missing("kubernetes", "install openssl")
    return binaries.folder()


class ApiServer:
    """Both programs; each can be stopped and started, on the same ports and data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self._etcd_port, peer_port = _free_ports(3)
        (folder / "tokens.csv").write_text(TOKENS)
        self._accounts = folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", self._accounts, "2048"], check=True, capture_output=True)
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{peer_port}"
        etcd: Flags = {"data-dir": folder / "etcd", "listen-client-urls": client, "advertise-client-urls": client}
        etcd |= {"listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"}
        self.etcd = Program((), command(assets() / "etcd", etcd, "--unsafe-no-fsync"), folder / "etcd.log")
        self.server = Program((), command(assets() / "kube-apiserver", self._flags(client)), folder / "server.log")

    def _flags(self, etcd: str) -> Flags:
        flags: Flags = {"etcd-servers": etcd, "bind-address": "127.0.0.1", "secure-port": self.port}
        flags |= {"advertise-address": "127.0.0.1", "cert-dir": self.folder / "pki"}
        flags |= {"token-auth-file": self.folder / "tokens.csv", "authorization-mode": "Node,RBAC"}
        flags |= {"service-account-issuer": "https://kubernetes.default.svc"}
        flags |= {"service-account-key-file": self._accounts, "service-account-signing-key-file": self._accounts}
        flags |= {"service-cluster-ip-range": "10.96.0.0/24", "endpoint-reconciler-type": "none"}
        # A version that is older than five seconds is forgotten, so that a test of 410 need not wait for minutes.
        flags |= {"etcd-compaction-interval": "2s"}
        return flags | {"disable-admission-plugins": "ServiceAccount"}

    def start(self) -> None:
        """Starts both and waits until the API is ready. Raises RuntimeError with the end of a log."""
        self.etcd.start()
        self.start_server()

    def start_server(self) -> None:
        self.server.start()
        until(self._is_ready, f"the API server ({self.server.log})")

    def stop(self) -> None:
        for program in (self.server, self.etcd):
            program.stop(signal.SIGKILL)

    def kubeconfig(self, token: str = ADMIN) -> Path:
        """A kubeconfig file for one of the users; the API server made its authority itself."""
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": "pki/apiserver.crt"}
        parts = {"clusters": ("cluster", cluster), "users": ("user", {"token": token})}
        document: dict[str, object] = {name: [{"name": "here", key: value}] for name, (key, value) in parts.items()}
        document |= {"contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}]}
        path = self.folder / f"kubeconfig-{token}"
        path.write_text(json.dumps(document | {"current-context": "here"}))
        return path

    def _is_ready(self) -> bool:
        self.etcd.check()
        self.server.check()
        context = _unverified()
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{self.port}/readyz", context=context, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [found.getsockname()[1] for found in sockets]
    for found in sockets:
        found.close()
    return ports
