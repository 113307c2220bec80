"""etcd and kube-apiserver on loopback, for the webhook and the policies."""

import json
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from probelet._rust import make_authority
from probelet.base.pem import pem

from tests.cluster.binaries import build as binaries
from tests.support.patience import PATIENCE_SECONDS
from tests.system.admission.client import Client, Refused

ADMIN = "admin-token"
USERS = {"editor": "editor-token", "operator": "operator-token", "plain": "plain-token"}
"""Users without rights of their own; tests give them some. The tokens are known on loopback only."""


def what_is_missing() -> str:
    """Why no API server can be started, in one line; empty if one can."""
    return binaries.what_is_not_built("etcd", "kube-apiserver")


class ApiServer:
    """An API server of the tests' own. Its data go with ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port, self._etcd_port, self._peer_port = _free_ports(3)
        self.etcd = f"http://127.0.0.1:{self._etcd_port}"
        """The address of etcd's clients, where its metrics are too."""
        self.admin = Client(self.port, ADMIN)
        self.kubeconfig = folder / "kubeconfig"

    def start(self) -> None:
        """Starts both programs and waits until the API is ready. Raises RuntimeError."""
        assets = binaries.folder()
        tokens = [f'{ADMIN},admin,1,"system:masters"', *(f"{token},{name},{name}" for name, token in USERS.items())]
        (self._folder / "tokens.csv").write_text("\n".join(tokens) + "\n")
        now = int(time.time())
        certificate, key = make_authority("accounts", now, now + 3600)
        (self._folder / "accounts.crt").write_bytes(pem("CERTIFICATE", certificate))
        (self._folder / "accounts.key").write_bytes(pem("PRIVATE KEY", key))
        self.kubeconfig.write_text(json.dumps(self._kubeconfig(ADMIN)))
        self._run(assets / "etcd", self._etcd_flags(), "--unsafe-no-fsync")
        self._run(assets / "kube-apiserver", self._api_flags())
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._is_ready():
            ended = [process.args for process in self._processes if process.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"no API server: {ended}; see {self._folder}/*.log")
            time.sleep(0.1)

    def stop(self) -> None:
        """Ends both programs."""
        for process in reversed(self._processes):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()

    def user(self, name: str) -> Client:
        """The server as one of ``USERS``."""
        return self.admin.as_user(USERS[name])

    def kubeconfig_of(self, name: str, token: str) -> Path:
        """A kubeconfig for a token."""
        path = self._folder / f"kubeconfig-{name}"
        path.write_text(json.dumps(self._kubeconfig(token)))
        return path

    def _is_ready(self) -> bool:
        try:
            self.admin.get("/api/v1/namespaces/default")
        except (OSError, Refused):
            return False
        return True

    def _run(self, program: Path, flags: dict[str, Any], *more: str) -> None:
        command = [str(program), *more, *(f"--{flag}={value}" for flag, value in flags.items())]
        with (self._folder / f"{program.name}.log").open("ab") as log:
            self._processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def _etcd_flags(self) -> dict[str, Any]:
        client, peer = self.etcd, f"http://127.0.0.1:{self._peer_port}"
        flags = {"data-dir": self._folder / "etcd", "listen-client-urls": client, "advertise-client-urls": client}
        flags |= {"listen-peer-urls": peer, "initial-advertise-peer-urls": peer}
        return {**flags, "initial-cluster": f"default={peer}", "log-level": "warn"}

    def _api_flags(self) -> dict[str, Any]:
        flags: dict[str, Any] = {"etcd-servers": self.etcd, "bind-address": "127.0.0.1"}
        flags |= {"secure-port": self.port, "advertise-address": "127.0.0.1", "cert-dir": self._folder / "pki"}
        flags |= {"token-auth-file": self._folder / "tokens.csv", "authorization-mode": "Node,RBAC"}
        flags |= {"service-account-issuer": "https://kubernetes.default.svc"}
        flags |= {"service-account-key-file": self._folder / "accounts.crt"}
        flags |= {"service-account-signing-key-file": self._folder / "accounts.key"}
        flags |= {"service-cluster-ip-range": "10.0.0.0/24", "endpoint-reconciler-type": "none"}
        # No controller makes the default service account that this plugin asks for.
        return flags | {"disable-admission-plugins": "ServiceAccount", "allow-privileged": "true"}

    def _kubeconfig(self, token: str) -> dict[str, Any]:
        cluster = {"server": f"https://127.0.0.1:{self.port}"}
        cluster |= {"certificate-authority": str(self._folder / "pki" / "apiserver.crt")}
        parts = {"clusters": ("cluster", cluster), "users": ("user", {"token": token})}
        document: dict[str, Any] = {name: [{"name": "here", key: value}] for name, (key, value) in parts.items()}
        document["contexts"] = [{"name": "here", "context": {"cluster": "here", "user": "here"}}]
        return document | {"apiVersion": "v1", "kind": "Config", "current-context": "here"}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
