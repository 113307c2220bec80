"""A container as containerd describes it: a pod without a security context on containerd 1.6.20."""

import copy
import json
from typing import Any

from probelet.runtime.execs.direct.container import (
    NO_FILTER,
    Bounds,
    Filter,
    InheritedAttributes,
    container_info,
    described,
    specification,
)
from probelet.runtime.execs.direct.fallback import FallbackError, Reason

ID = "c469f5fea66cc32009ae2015e18b3fbd7d1701111be17adf19b0bd3b9e0f82f0"
INFINITE = 2**64 - 1
BOUNDS = Bounds(2**41 - 1, (INFINITE,) * 16)
INHERITED = InheritedAttributes(
    start_time=4711, umask=0o22, nice=0, limits=((1024, 4096),) * 16, shim=28000, shim_start_time=4000
)

INFO: dict[str, Any] = {
    "sandboxID": "a50beab9d64e1b64e0c5e7b35009ca83f5e08f127999146b2e9c82348b7e19fb",
    "pid": 28290,
    "removing": False,
    "snapshotKey": ID,
    "snapshotter": "overlayfs",
    "runtimeType": "io.containerd.runc.v2",
    "runtimeOptions": {"systemd_cgroup": True},
    "config": {"metadata": {"name": "app"}},
    "runtimeSpec": {
        "ociVersion": "1.0.2-dev",
        "process": {
            "user": {"uid": 1000, "gid": 2000, "additionalGids": [2000, 3000]},
            "args": ["sleep", "100000"],
            "env": ["PATH=/bin", "HOSTNAME=bare"],
            "cwd": "/srv",
            "capabilities": {"bounding": ["CAP_CHOWN", "CAP_KILL"], "effective": None, "permitted": ["CAP_CHOWN"]},
            "oomScoreAdj": 1000,
            "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": True},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid"]}],
        "annotations": {"io.kubernetes.cri.container-name": "app"},
        "linux": {
            "resources": {"devices": [{"allow": False, "access": "rwm"}], "memory": {}, "cpu": {"shares": 2}},
            "cgroupsPath": f"kubepods.slice:cri-containerd:{ID}",
            "namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "network", "path": "/proc/27987/ns/net"}],
            "maskedPaths": ["/proc/kcore"],
            "readonlyPaths": ["/proc/sys"],
        },
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The example with another value at a path of keys."""
    info = copy.deepcopy(INFO)
    place = info
    *keys, last = path.split(".")
    for key in keys:
        place = place[key]
    place[last] = value
    return info


def description(
    info: dict[str, Any],
    *,
    inherited: InheritedAttributes = INHERITED,
    bounds: Bounds = BOUNDS,
    seccomp: Filter = NO_FILTER,
) -> bytes:
    found = container_info(json.dumps(info))
    return described(ID, found, specification(found), inherited, seccomp, bounds)


def refusal(info: dict[str, Any], **others: Any) -> tuple[Reason, str]:
    """Why a container goes over the runtime."""
    try:
        description(info, **others)
    except FallbackError as error:
        return error.reason, error.detail
    raise AssertionError("the helper would enter it")
