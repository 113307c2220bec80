"""Seccomp profiles of these tests' own, which lie where a kubelet looks for them."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probelet.node.effects.linux.host import SECCOMP_ROOT

ARCHITECTURES = ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32", "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"]

OWN: dict[str, Any] = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "architectures": ARCHITECTURES,
    "syscalls": [
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28},
        {"names": ["unshare", "setns"], "action": "SCMP_ACT_ERRNO"},
        {"names": ["sync"], "action": "SCMP_ACT_KILL_PROCESS"},
        {"names": ["symlink", "symlinkat"], "action": "SCMP_ACT_TRAP"},
        {
            "names": ["socket"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": 97,
            "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}, {"index": 1, "value": 3, "op": "SCMP_CMP_EQ"}],
        },
    ],
}
"""Forbids in every way that a filter has; ``socket`` only with the arguments of a raw socket."""

LATE: dict[str, Any] = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {"names": ["setgroups", "capset", "chdir", "fchown"], "action": "SCMP_ACT_KILL_PROCESS"},
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_LOG"},
    ],
}
"""Forbids what confining a process takes, so that only a process with ``no_new_privs`` can load it in time."""

ASKING: dict[str, Any] = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["acct"], "action": "SCMP_ACT_TRACE"}],
}
"""Asks a tracer, which no process has."""

FOLDER = f"probelet-tests-direct-{os.getpid()}"
"""Of this process alone: two runs on one machine share the folder of the node's profiles."""
PROFILES = {"own": OWN, "late": LATE, "asking": ASKING}


def local(name: str) -> dict[str, str]:
    """The ``seccompProfile`` that names one of them."""
    return {"type": "Localhost", "localhostProfile": f"{FOLDER}/{name}.json"}


@contextmanager
def profiles(root: Path = SECCOMP_ROOT) -> Iterator[None]:
    """Puts the profiles where the runtime reads them."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, profile in PROFILES.items():
            (folder / f"{name}.json").write_text(json.dumps(profile))
        yield
    finally:
        for name in PROFILES:
            (folder / f"{name}.json").unlink(missing_ok=True)
        folder.rmdir()
