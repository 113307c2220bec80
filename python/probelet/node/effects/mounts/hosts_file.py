"""The text of /etc/hosts in a pod's containers.

Kubelet kubelet_pods.go:managedHostsFileContent, and nodeHostsFileContent for a pod on the host's network, 1.36.
"""

from pathlib import Path
from typing import Final

from probelet.base.files.regular_file import read_regular
from probelet.node.effects.mounts.pod_name import PodName
from probelet.spec.model.pod import Pod

PATH_INSIDE: Final = "/etc/hosts"

HOST_FILE_BYTES_MAX: Final = 1024 * 1024
"""A file that somebody fills must not fill this process; a list of all advertisers has less."""

_HOST_HEAD: Final = "# Kubernetes-managed hosts file (host network).\n"
_HEAD: Final = (
    "# Kubernetes-managed hosts file.\n"
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n"
)


def hosts_file(pod: Pod, pod_ip: str, cluster_domain: str = "", *, host_file: Path = Path(PATH_INSIDE)) -> bytes:
    """The content of the file for a pod with this address. A pod on the host's network has the lines of ``host_file``.
    Raises OSError if they cannot be read."""
    aliases = [f"{alias.ip}\t" + "\t".join(alias.hostnames) + "\n" for alias in pod.spec.host_aliases]
    added = "\n# Entries added by HostAliases.\n" + "".join(aliases) if aliases else ""
    if pod.spec.host_network:
        own = _HOST_HEAD.encode() + read_regular(host_file, HOST_FILE_BYTES_MAX)[:HOST_FILE_BYTES_MAX]
    else:
        name = PodName.of(pod, cluster_domain)
        names = f"{name.full}\t{name.host}" if name.domain else name.host
        own = f"{_HEAD}{pod_ip}\t{names}\n".encode()
    return own + added.encode()
