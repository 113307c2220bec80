"""Kernel parameters of a pod: their syntax, their namespace, and the names that are safe to set.

Core validation ``validateSysctls``, component-helpers node/util/sysctl/namespace.go and kubelet
pkg/kubelet/sysctl/safe_sysctls.go, 1.36.
"""

import os
import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from probelet.spec.model.pod import PodSpec
from probelet.spec.model.security_context import Sysctl
from probelet.spec.text.problem import FieldError

NAME_LENGTH_MAX: Final = 253

_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_NAME: Final = rf"^({_SEGMENT}[\./])*{_SEGMENT}$"

Namespace: TypeAlias = Literal["ipc", "net"]

_IPC: Final = frozenset(
    f"kernel.{name}"
    for name in ("sem", "shm", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "msg", "msgmax", "msgmnb", "msgmni")
)

# Name -> the kernel that gave each network namespace its own value.
_SAFE: Final = {
    "kernel.shm_rmid_forced": (0, 0),
    "net.ipv4.ip_local_port_range": (0, 0),
    "net.ipv4.tcp_syncookies": (0, 0),
    "net.ipv4.ping_group_range": (0, 0),
    "net.ipv4.ip_unprivileged_port_start": (0, 0),
    "net.ipv4.ip_local_reserved_ports": (3, 16),
    "net.ipv4.tcp_keepalive_time": (4, 5),
    "net.ipv4.tcp_fin_timeout": (4, 6),
    "net.ipv4.tcp_keepalive_intvl": (4, 5),
    "net.ipv4.tcp_keepalive_probes": (4, 5),
    "net.ipv4.tcp_rmem": (4, 15),
    "net.ipv4.tcp_wmem": (4, 15),
}


def safe_sysctls(release: str = "") -> list[str]:
    """The parameters that a pod may set on a kernel of this release; by default this machine's."""
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", release or os.uname().release)
    kernel = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    return [name for name, since in _SAFE.items() if kernel >= since]


def normal_name(name: str) -> str:
    """The name with dots between its parts: ``net/ipv4/conf/eno2.100/x`` is ``net.ipv4.conf.eno2/100.x``."""
    first = re.search("[./]", name)
    return name if first is None or first[0] == "." else name.translate({ord("."): "/", ord("/"): "."})


def namespace_of(name: str) -> Namespace | None:
    """The namespace that has its own value of a parameter; None if the parameter is the machine's, or unknown."""
    dotted = normal_name(name)
    if dotted in _IPC or dotted.startswith("fs.mqueue."):
        return "ipc"
    return "net" if dotted.startswith("net.") else None


def validate_sysctls(sysctls: list[Sysctl], spec: PodSpec, path: str) -> Iterator[FieldError]:
    """A parameter of a namespace that the pod shares with the host would be the host's."""
    shared: dict[Namespace | None, str] = {}
    if spec.host_network:
        shared["net"] = "hostNetwork"
    if spec.host_ipc:
        shared["ipc"] = "hostIPC"
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        name, field = sysctl.name, f"{path}[{index}].name"
        if not name:
            yield FieldError(field, "Required value")
        elif len(name.encode()) > NAME_LENGTH_MAX or not re.fullmatch(_NAME.strip("^$"), name):
            detail = f"must have at most {NAME_LENGTH_MAX} characters and match regex {_NAME}"
            yield FieldError(field, "Invalid value", name, detail)
        elif name in seen:
            yield FieldError(field, "Duplicate value", name)
        if option := shared.get(namespace_of(name)):
            yield FieldError(field, "Invalid value", name, f"may not be specified when '{option}' is true")
        seen.add(name)
