"""How to reach the API server: a kubeconfig file, or the service account of a pod."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
from lightkube.config.client_adapter import ConnectionParams
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError

from probelet.kube.error import KubeConfigError

LIMITS: Final = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=60)
"""An idle connection stays for a minute, so that a lease renewed every ten seconds pays for one TLS handshake; a
kube-apiserver closes idle connections after 90 seconds."""

REQUEST_TIMEOUT: Final = httpx2.Timeout(10.0)
"""Seconds for each step of a request: a connection, a piece sent, a piece received."""


@dataclass(frozen=True)
class Access:
    """A server with credentials."""

    config: SingleConfig

    @property
    def server(self) -> str:
        """The URL of the server."""
        return self.config.cluster.server

    @property
    def namespace(self) -> str:
        """The namespace of the context or of the service account; ``default`` if there is none."""
        return self.config.namespace

    def client(self) -> httpx2.AsyncClient:
        """A client of the HTTP library with the server's address, its certificates and the credentials."""
        try:
            parameters = ConnectionParams(timeout=REQUEST_TIMEOUT).httpx_params(self.config)
        except (OSError, ConfigError, ValueError) as error:
            raise KubeConfigError(f"{self.server}: {error}") from error
        return httpx2.AsyncClient(**parameters, limits=LIMITS)


def kubeconfig_access(path: Path, context: str = "") -> Access:
    """The access of a kubeconfig file's context, the current one by default. Raises KubeConfigError."""
    try:
        found = KubeConfig.from_file(path).get(context or None)
    except (OSError, ConfigError, ValueError, KeyError, TypeError) as error:
        raise KubeConfigError(f"{path}: {error}") from error
    if found is None:
        raise KubeConfigError(f"{path}: no current-context")
    return Access(found._replace(user=found.user or User()))


def in_cluster_access(account: Path = Path(SERVICE_ACCOUNT)) -> Access:
    """The access of the pod that this process runs in. Raises KubeConfigError outside a pod."""
    if not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise KubeConfigError("KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod")
    try:
        found = KubeConfig.from_service_account(account).get()
    except (OSError, ConfigError, KeyError) as error:
        raise KubeConfigError(f"service account: {error}") from error
    assert found is not None, "from_service_account makes one context"
    return Access(found)


def found_access(kubeconfig: Path | None = None, context: str = "") -> Access:
    """The first of: the file ``kubeconfig``, ``$KUBECONFIG``, the service account in a pod, ``~/.kube/config``."""
    if kubeconfig is not None:
        return kubeconfig_access(kubeconfig, context)
    if named := os.environ.get("KUBECONFIG"):
        return kubeconfig_access(Path(named), context)
    if os.environ.get("KUBERNETES_SERVICE_HOST") and not context:
        return in_cluster_access()
    return kubeconfig_access(Path.home() / ".kube" / "config", context)
