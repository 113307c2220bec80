"""A server with credentials, and the HTTP client that follows from them."""

import os
import socket
import ssl
import urllib.request
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx2
import msgspec
from lightkube.config.client_adapter import user_auth, verify_cluster
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError

from probelet.kube.access.kubeconfig import Kubeconfig, read_kubeconfig
from probelet.kube.access.token_file import TokenFile
from probelet.kube.error import KubeConfigError

LIMITS: Final = httpx2.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=60)
"""At most 32 connections, because the agents of a cluster that starts would otherwise open one for each of their pods.
The controller keeps up to 16 for its watches, and must renew its Lease beside them. An idle one stays for a minute, so
that a lease renewed every ten seconds costs one TLS handshake; a kube-apiserver closes idle connections after 90
seconds (k8s.io/apiserver pkg/server/secure_serving.go, ``IdleTimeout``, 1.36)."""

STEP_TIMEOUT: Final = httpx2.Timeout(10.0, pool=None)
"""Seconds for each step of a request: a connection, a piece sent, a piece received. The wait for one of the connections
counts into the limit of the whole request."""

KEEPALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 15),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 1),
)
"""The kernel notices after 45 seconds that a peer is gone, as client-go's HTTP/2 pings do (k8s.io/apimachinery
pkg/util/net/http.go, ``readIdleTimeoutSeconds`` and ``pingTimeoutSeconds``, 1.36)."""


class Access(msgspec.Struct, frozen=True):
    """A server with credentials. Raises KubeConfigError for what cannot be a server or a certificate."""

    config: SingleConfig
    auth: httpx2.Auth | None = None
    proxy: str = ""
    """The URL of an HTTP proxy; empty for the one of the environment."""
    server_name: str = ""
    """The name in the server's certificate; empty for the host of its address."""

    @property
    def server(self) -> str:
        """The URL of the server."""
        return self.config.cluster.server

    @property
    def namespace(self) -> str:
        """The namespace of the context or of the service account; ``default`` if there is none."""
        return self.config.namespace

    def client(self, agent: str) -> httpx2.AsyncClient:
        """A client of the HTTP library with the server's address, its certificates and the credentials.

        ``agent`` is the User-Agent, by which an API server's audit log names its clients.
        """
        url = urlsplit(self.server)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise KubeConfigError(f"server {self.server!r}: must be https:// or http:// and a host")
        proxy = self.proxy or _proxy_of_environment(url.scheme, url.netloc)
        if proxy and urlsplit(proxy).scheme not in ("http", "https"):
            raise KubeConfigError(f"proxy {proxy!r}: must be http:// or https:// and a host")
        transport = httpx2.AsyncHTTPTransport(
            verify=self._certificates(), limits=LIMITS, proxy=proxy or None, socket_options=KEEPALIVE
        )
        # An API server redirects nobody, and another server's redirect must not carry the token elsewhere.
        return httpx2.AsyncClient(
            base_url=self.server,
            auth=self.auth,
            timeout=STEP_TIMEOUT,
            transport=transport,
            follow_redirects=False,
            headers={"User-Agent": agent, "Accept": "application/json"},
        )

    def _certificates(self) -> ssl.SSLContext:
        cluster = self.config.cluster
        if urlsplit(self.server).scheme == "http":
            # Nobody verifies anything without TLS, and to read the authorities of this machine takes 25 ms of a core.
            cluster = msgspec.structs.replace(cluster, insecure=True)
        try:
            context = verify_cluster(cluster, self.config.user or User(), self.config.abs_file)
        except (OSError, ConfigError, ValueError) as error:
            # An error of the TLS library names neither the file nor the field.
            named = self.config.cluster.certificate_auth or "certificate-authority-data or client certificate"
            raise KubeConfigError(f"server {self.server}: {named}: {error}") from error
        # Python 3.13 refuses authorities without a key identifier, which Go accepts and older clusters have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def _proxy_of_environment(scheme: str, netloc: str) -> str:
    """``HTTPS_PROXY`` and ``NO_PROXY``, as other programs read them."""
    if urllib.request.proxy_bypass(netloc):
        return ""
    return urllib.request.getproxies().get(scheme, "")


def kubeconfig_access(paths: tuple[Path, ...], context: str = "") -> Access:
    """The access of a context, the current one by default, in kubeconfig files. Raises KubeConfigError."""
    found: Kubeconfig = read_kubeconfig(paths, context)
    user = found.config.user
    auth: httpx2.Auth | None = found.plugin
    if auth is None and user is not None:
        auth = TokenFile(Path(user.token_file)) if user.token_file else user_auth(user)
    return Access(found.config, auth, found.proxy, found.server_name)


def in_cluster_access(account: Path = Path(SERVICE_ACCOUNT)) -> Access:
    """The access of the pod that this process runs in. Raises KubeConfigError outside a pod."""
    if not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise KubeConfigError("KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod")
    try:
        found = KubeConfig.from_service_account(account).get()
    except (OSError, ConfigError, KeyError, ValueError) as error:
        raise KubeConfigError(f"service account {account}: {error}") from error
    assert found is not None, "from_service_account makes one context"
    return Access(found, TokenFile(account / "token"))


def found_access(kubeconfig: Path | None = None, context: str = "") -> Access:
    """The first of: the file ``kubeconfig``, ``$KUBECONFIG``, the service account in a pod, ``~/.kube/config``."""
    if kubeconfig is not None:
        return kubeconfig_access((kubeconfig,), context)
    if named := os.environ.get("KUBECONFIG"):
        return kubeconfig_access(tuple(Path(path) for path in named.split(os.pathsep) if path), context)
    if os.environ.get("KUBERNETES_SERVICE_HOST") and not context:
        return in_cluster_access()
    return kubeconfig_access((Path.home() / ".kube" / "config",), context)
