"""The node's own address: ``status.hostIP`` of its pods, and the address of pods on the host's network."""

import socket
from typing import Final

from probelet.runtime.embedded.pod.address import NODE_ADDRESS
from probelet.spec.model.pod import Pod

_OUTSIDE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849): the way to them is the default route."""
_PORT: Final = 9


def node_address(*, on_host: bool) -> str:
    """The address with which this machine would go out by its default route; without one, that of its loopback.

    A kubelet takes ``--node-ip``, else the address of its own name, else this one (pkg/kubelet/nodestatus/setters.go,
    1.36). On the embedded runtime (``on_host``) pods have addresses of the loopback network, and so has the node: no
    other machine reaches a server that listens there.
    """
    if on_host:
        return NODE_ADDRESS
    for family, outside in _OUTSIDE:
        try:
            # A UDP socket sends nothing when it connects.
            with socket.socket(family, socket.SOCK_DGRAM) as chosen:
                chosen.connect((outside, _PORT))
                return str(chosen.getsockname()[0])
        except OSError:
            continue
    return NODE_ADDRESS


def pod_address(pod: Pod, ip: str, node: str) -> str:
    """The address of a pod whose sandbox has ``ip``: a pod on the host's network has the node's (kubelet
    ``generateAPIPodStatus``, 1.36), where the runtime reports none."""
    return node if pod.spec.host_network else ip
