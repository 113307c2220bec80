"""What /etc/hosts of a pod's containers says (kubelet kubelet_pods.go:managedHostsFileContent, 1.36)."""

from typing import Final

from probelet.spec.model.pod import Pod

PATH_INSIDE: Final = "/etc/hosts"

HOSTNAME_CHARS_MAX: Final = 63
"""The kernel holds no longer name."""

_HEAD: Final = (
    "# Kubernetes-managed hosts file.\n"
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n"
)


def hostname(pod: Pod) -> str:
    """The name of the pod's machine (kubelet ``truncatePodHostnameIfNeeded``, 1.36)."""
    return (pod.spec.hostname or pod.metadata.name)[:HOSTNAME_CHARS_MAX].rstrip("-.")


def hosts_file(pod: Pod, pod_ip: str) -> str:
    """The content of the file for a pod with this address."""
    aliases = [f"{alias.ip}\t" + "\t".join(alias.hostnames) + "\n" for alias in pod.spec.host_aliases]
    added = "\n# Entries added by HostAliases.\n" + "".join(aliases) if aliases else ""
    return f"{_HEAD}{pod_ip}\t{hostname(pod)}\n{added}"
