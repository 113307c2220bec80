"""etcd, API server, controller manager and scheduler, each a program of its own as on a real control plane."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.control_plane.api import Api, ApiError, Object
from tests.cluster.machine.host import Host
from tests.cluster.machine.keeper import NODE_IP
from tests.cluster.machine.program import Program
from tests.cluster.machine.space import Space
from tests.system.containerd.machine import until

PORT, ETCD_PORT, PEER_PORT = 6443, 2379, 2380
NODE_NAME = Host(0).name
"""The node of the control plane, the first one."""
ADMIN = "admin-token"
"""The administrator's token. Nothing leads into the network of the cluster."""

Flags = dict[str, str | int | Path]


def command(program: str | Path, flags: Flags, *more: str | Path) -> list[str]:
    return [str(program), *map(str, more), *(f"--{flag}={value}" for flag, value in flags.items())]


class ControlPlane:
    """Each of its programs can be stopped and started by itself."""

    def __init__(self, space: Space, assets: Path, hosts: Sequence[Host] = ()) -> None:
        """``hosts``: the nodes whose kubelets may come."""
        self._hosts = hosts
        self._folder, self._assets, self._inside = space.folder / "control", assets, space.inside
        self._folder.mkdir()
        self._authority = self._folder / "pki" / "apiserver.crt"
        self._accounts = self._folder / "accounts.key"
        self.kubeconfig = self.kubeconfig_of("admin", ADMIN)
        self.api = Api(space.connect, NODE_IP, PORT, ADMIN)
        self.etcd = self._program("etcd", self._etcd(), "--unsafe-no-fsync")
        self.api_server = self._program("kube-apiserver", self._api_server())
        self.controllers = self._program("kube-controller-manager", self._controllers())
        self.scheduler = self._program("kube-scheduler", {**self._client(), "secure-port": 0})

    @property
    def programs(self) -> list[Program]:
        return [self.etcd, self.api_server, self.controllers, self.scheduler]

    def start(self) -> None:
        """Start everything and wait until the API is ready. Raises RuntimeError or CalledProcessError."""
        users = [f'{ADMIN},admin,1,"system:masters"']
        users += [f'{host.token},system:node:{host.name},{host.name},"system:nodes"' for host in self._hosts]
        (self._folder / "tokens.csv").write_text("\n".join(users) + "\n")
        subprocess.run(["openssl", "genrsa", "-out", self._accounts, "2048"], check=True, capture_output=True)
        self.etcd.start()
        self.api_server.start()
        until(self.is_ready, f"the API server ({self.api_server.log})")
        self.controllers.start()
        self.scheduler.start()

    def is_ready(self) -> bool:
        self.etcd.check()
        self.api_server.check()
        try:
            return self.api.text("/readyz") == "ok"
        except ApiError:
            return False

    def kubeconfig_of(self, user: str, token: str) -> Path:
        path = self._folder / f"kubeconfig-{user}"
        cluster = {"server": f"https://{NODE_IP}:{PORT}", "certificate-authority": str(self._authority)}
        parts = {"clusters": ("cluster", cluster), "users": ("user", {"token": token})}
        document: Object = {name: [{"name": "here", key: value}] for name, (key, value) in parts.items()}
        document["contexts"] = [{"name": "here", "context": {"cluster": "here", "user": "here"}}]
        document |= {"apiVersion": "v1", "kind": "Config", "current-context": "here"}
        path.write_text(json.dumps(document))
        return path

    def _program(self, name: str, flags: Flags, *more: str) -> Program:
        return Program(self._inside, command(self._assets / name, flags, *more), self._folder / f"{name}.log")

    def _etcd(self) -> Flags:
        client, peer = f"http://127.0.0.1:{ETCD_PORT}", f"http://127.0.0.1:{PEER_PORT}"
        flags: Flags = {"data-dir": self._folder / "etcd", "listen-client-urls": client}
        flags |= {"advertise-client-urls": client, "listen-peer-urls": peer, "log-level": "warn"}
        return flags | {"initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"}

    def _api_server(self) -> Flags:
        flags: Flags = {"etcd-servers": f"http://127.0.0.1:{ETCD_PORT}", "bind-address": NODE_IP, "secure-port": PORT}
        flags |= {"advertise-address": NODE_IP, "cert-dir": self._folder / "pki"}
        flags |= {"token-auth-file": self._folder / "tokens.csv", "authorization-mode": "Node,RBAC"}
        flags |= {"service-account-issuer": "https://kubernetes.default.svc"}
        flags |= {"service-account-key-file": self._accounts, "service-account-signing-key-file": self._accounts}
        flags |= {"service-cluster-ip-range": "10.96.0.0/16", "enable-admission-plugins": "NodeRestriction"}
        # There is no kube-proxy, so a webhook's Service is resolved to its endpoints.
        flags |= {"enable-aggregator-routing": "true", "allow-privileged": "true"}
        return flags | {"kubelet-preferred-address-types": "InternalIP"}

    def _controllers(self) -> Flags:
        flags = {**self._client(), "service-account-private-key-file": self._accounts}
        # The API server makes its certificate and the authority for it, and keeps both in one file.
        return flags | {"root-ca-file": self._authority, "secure-port": 0, "use-service-account-credentials": "false"}

    def _client(self) -> Flags:
        return {"kubeconfig": self.kubeconfig, "leader-elect": "false"}


class Kubectl:
    """The kubectl of this release, as the administrator."""

    def __init__(self, space: Space, assets: Path, kubeconfig: Path) -> None:
        self.inside = space.inside
        """What a command begins with that runs in the network of the cluster."""
        self.command = [*space.inside, str(assets / "kubectl"), f"--kubeconfig={kubeconfig}"]
        """What runs it, before its arguments."""

    def __call__(self, *arguments: str | Path, stdin: str = "", check: bool = True) -> str:
        """What kubectl prints. Raises RuntimeError with its words if it fails and ``check`` is true."""
        command: Sequence[str] = [*self.command, *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)
        if check and done.returncode:
            raise RuntimeError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout if check else done.stdout + done.stderr
