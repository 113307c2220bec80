"""The bridge of one runtime: the guard makes it before the first pod, and removes it after the last."""

from hashlib import blake2b
from ipaddress import IPv4Network
from pathlib import Path

from probelet.runtime.embedded.isolation.address_range import choose, routes
from probelet.runtime.embedded.isolation.ip_command import IsolationError, ip, ip_program
from probelet.runtime.embedded.isolation.namespace import new_namespace

INTERFACES = Path("/sys/class/net")


class Bridge:
    """A bridge that is up. ``network`` is the range of the pods; ``host_ip``, its first address, is this machine's."""

    def __init__(self, tag: str, network: IPv4Network) -> None:
        self.tag = tag
        self.name = bridge_name(tag)
        self.network = network
        self.host_ip = str(network[1])


def tag_of(root: Path) -> str:
    """Six characters in the names of a root's interfaces; a name has 15 at most (IFNAMSIZ)."""
    return blake2b(bytes(root), digest_size=3).hexdigest()


def bridge_name(tag: str) -> str:
    """The name of the bridge of a root."""
    return f"probelet-{tag}"


def make_bridge(root: Path) -> Bridge:
    """Makes the bridge of a root. Raises IsolationError."""
    ip_program()
    try:
        new_namespace().close()
        network = choose(str(root), routes())
    except PermissionError as error:
        reason = f"needs root with CAP_SYS_ADMIN and CAP_NET_ADMIN: {error.strerror}"
        raise IsolationError(f"--isolate namespace: {reason}") from None
    except (OSError, LookupError) as error:
        raise IsolationError(f"--isolate namespace: {error}") from None
    bridge = Bridge(tag_of(root), network)
    try:
        # Without a delay the bridge forwards as soon as a pod has joined it.
        ip("link", "add", bridge.name, "type", "bridge", "forward_delay", "0")
        ip("address", "add", f"{bridge.host_ip}/{network.prefixlen}", "dev", bridge.name)
        ip("link", "set", bridge.name, "up")
    except IsolationError:
        remove_bridge(root)
        raise
    return bridge


def remove_bridge(root: Path) -> None:
    """Removes the bridge of a root, if it is there. Raises IsolationError."""
    name = bridge_name(tag_of(root))
    if (INTERFACES / name).exists():
        ip("link", "delete", name)
