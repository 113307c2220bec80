"""The name that a pod's machine has for its containers: ``hostname``, and with its domain ``hostname -f``."""

from typing import Final

import msgspec

from probelet.errors import ProbeletError
from probelet.spec.model.pod import Pod

HOST_CHARS_MAX: Final = 63
"""Of a name without its domain (kubelet kubelet_pods.go:truncatePodHostnameIfNeeded, 1.36)."""

KERNEL_CHARS_MAX: Final = 64
"""The kernel holds no longer name (``__NEW_UTS_LEN``)."""


class PodNameError(ProbeletError):
    """The kernel cannot hold the name that the manifest asks for."""


class PodName(msgspec.Struct, frozen=True):
    """``domain`` is empty for a pod without ``spec.subdomain``."""

    host: str
    domain: str

    @classmethod
    def of(cls, pod: Pod, cluster_domain: str) -> "PodName":
        """Kubelet kubelet_pods.go:GeneratePodHostNameAndDomain, 1.36: without a ``cluster_domain`` (``clusterDomain``)
        the domain ends in a dot."""
        spec, meta = pod.spec, pod.metadata
        name = spec.hostname_override or spec.hostname or meta.name
        has_domain = spec.subdomain and not spec.hostname_override
        domain = f"{spec.subdomain}.{meta.namespace}.svc.{cluster_domain}" if has_domain else ""
        return cls(name[:HOST_CHARS_MAX].rstrip("-.") if len(name) > HOST_CHARS_MAX else name, domain)

    @property
    def full(self) -> str:
        """With the domain, if there is one."""
        return f"{self.host}.{self.domain}" if self.domain else self.host


def kernel_name(pod: Pod, cluster_domain: str) -> str:
    """Returns the name that ``hostname`` prints: with ``setHostnameAsFQDN`` the name with its domain (kubelet
    util/util.go: GetNodenameForKernel, 1.36). A pod on the host's network has the machine's name: empty. Raises
    PodNameError with the kubelet's words."""
    if pod.spec.host_network:
        return ""
    name = PodName.of(pod, cluster_domain)
    if not pod.spec.set_hostname_as_fqdn:
        return name.host
    if name.domain and len(name.full) > KERNEL_CHARS_MAX:
        raise PodNameError(
            f"failed to construct FQDN from pod hostname and cluster domain, FQDN {name.full} is too long "
            f"({KERNEL_CHARS_MAX} characters is the max, {len(name.full)} characters requested)"
        )
    return name.full
