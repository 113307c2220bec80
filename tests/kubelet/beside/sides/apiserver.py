"""etcd and kube-apiserver from a folder of binaries (KUBEBUILDER_ASSETS), in the network namespace of the pods."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.kubelet.beside.runtime import Runtime
from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.machine import until

PROGRAMS = ("etcd", "kube-apiserver")
PORT, ETCD_PORT, PEER_PORT = 16443, 16444, 16445
TOKEN = "beside"
"""The API server listens in a network namespace that nothing leads into."""

KUBECONFIG = f"""
apiVersion: v1
kind: Config
clusters: [{{name: here, cluster: {{server: "https://127.0.0.1:{PORT}", insecure-skip-tls-verify: true}}}}]
users: [{{name: admin, user: {{token: {TOKEN}}}}}]
contexts: [{{name: here, context: {{cluster: here, user: admin}}}}]
current-context: here
"""


class ApiServer:
    """An API server. Between ``start`` and ``stop`` a kubelet may use ``kubeconfig``."""

    def __init__(self, runtime: Runtime, folder: Path, assets: Path) -> None:
        self._runtime, self._folder, self._assets = runtime, folder, assets
        self._processes: list[subprocess.Popen[bytes]] = []
        self.kubeconfig = folder / "kubeconfig"

    def start(self) -> None:
        """Start both programs and wait until the API is ready. Raises RuntimeError or CalledProcessError."""
        self._folder.mkdir(parents=True)
        self.kubeconfig.write_text(KUBECONFIG)
        (self._folder / "tokens.csv").write_text(f'{TOKEN},admin,1,"system:masters"\n')
        key = self._folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        etcd, peer = f"http://127.0.0.1:{ETCD_PORT}", f"http://127.0.0.1:{PEER_PORT}"
        flags = {"data-dir": self._folder / "etcd", "listen-client-urls": etcd, "advertise-client-urls": etcd}
        flags |= {"listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"}
        self._run("etcd", flags, "--unsafe-no-fsync")
        here = f"https://127.0.0.1:{PORT}"
        flags = {
            "etcd-servers": etcd,
            "bind-address": "127.0.0.1",
            "secure-port": PORT,
            "advertise-address": "127.0.0.1",
        }
        flags |= {"cert-dir": self._folder / "pki", "token-auth-file": self._folder / "tokens.csv"}
        flags |= {
            "service-account-issuer": here,
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
        }
        flags |= {"service-cluster-ip-range": "10.0.0.0/24", "authorization-mode": "Node,RBAC"}
        flags |= {"disable-admission-plugins": "ServiceAccount", "endpoint-reconciler-type": "none"}
        self._run("kube-apiserver", flags)
        until(self._is_ready, f"the API server ({self._folder}/kube-apiserver.log)")

    def _run(self, program: str, flags: dict[str, Any], *more: str) -> None:
        command = [*self._runtime.inside, str(self._assets / program), *more]
        command += [f"--{flag}={value}" for flag, value in flags.items()]
        with (self._folder / f"{program}.log").open("ab") as log:
            self._processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def _is_ready(self) -> bool:
        try:
            return self._text("/readyz") == "ok" and bool(self.get("/api/v1/namespaces/default"))
        except RuntimeError:
            return False

    def get(self, path: str) -> dict[str, Any]:
        """One object or list. Raises RuntimeError."""
        document: dict[str, Any] = json.loads(self._text(path))
        return document

    def _text(self, path: str) -> str:
        url, header = f"https://127.0.0.1:{PORT}{path}", f"Authorization: Bearer {TOKEN}"
        return self._runtime.command("curl", "--insecure", "--silent", "--fail", "--header", header, url)

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait(PATIENCE_SECONDS)
