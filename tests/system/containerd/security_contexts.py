"""Security contexts, and the OCI specification that a kubelet's containerd makes of each.

The expected facts follow from kubelet 1.36, pkg/kubelet/kuberuntime/{security_context,kuberuntime_container_linux,
kuberuntime_sandbox}.go, pkg/securitycontext/util.go and pkg/kubelet/qos/policy.go, and from the runtime's own default
capabilities. A real kubelet 1.36.3 on containerd 1.6.20 gave the same facts for every row.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.system.containerd.image import NUMBERED

MASKED = [
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
    # A machine has these only if it has the sensors.
    *sorted(map(str, Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle"))),
]
READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]

CAPABILITIES = (
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID "
    "SYS_CHROOT"
)
"""The default set of containerd."""

PLAIN: dict[str, Any] = {
    "masked": MASKED,
    "readonly": READONLY,
    "capabilities": CAPABILITIES,
    "no_new_privileges": False,
    "seccomp": False,
    "root_is_readonly": False,
    "user": [0, 0],
    "groups": [0],
    "oom_score_adj": 1000,
}
"""A container without a security context and without resources."""

PLAIN_SANDBOX: dict[str, Any] = {
    "seccomp": True,
    "sysctls": {},
    "namespaces": ["ipc", "mount", "network", "pid", "uts"],
}

MEMORY_BYTES = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024  # type: ignore[index]


@dataclass(frozen=True)
class Row:
    """One container: ``pod`` is the spec around it, ``differs`` its facts that ``PLAIN`` does not have.

    ``sandbox`` is what its sandbox has beside ``PLAIN_SANDBOX``.
    """

    name: str
    container: dict[str, Any] = field(default_factory=dict)
    pod: dict[str, Any] = field(default_factory=dict)
    differs: dict[str, Any] = field(default_factory=dict)
    sandbox: dict[str, Any] = field(default_factory=dict)

    @property
    def expected(self) -> dict[str, Any]:
        return PLAIN | self.differs

    @property
    def expected_sandbox(self) -> dict[str, Any]:
        return PLAIN_SANDBOX | self.sandbox


def context(**fields: Any) -> dict[str, Any]:
    return {"securityContext": fields}


RUNTIME_DEFAULT = {"type": "RuntimeDefault"}
UNCONFINED = {"type": "Unconfined"}
OF_POD = context(
    runAsUser=1000,
    runAsGroup=2000,
    runAsNonRoot=True,
    fsGroup=3000,
    supplementalGroups=[4000, 4001],
    seccompProfile=RUNTIME_DEFAULT,
)
NO_PATHS = {"masked": [], "readonly": []}
EVERY = {**NO_PATHS, "capabilities": "every"}
SAFE_SYSCTLS = [
    {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"},
    {"name": "kernel/shm_rmid_forced", "value": "1"},
]

ROWS = [
    Row("bare"),
    Row(
        "hardened",
        context(
            runAsUser=1000,
            runAsNonRoot=True,
            allowPrivilegeEscalation=False,
            readOnlyRootFilesystem=True,
            capabilities={"drop": ["ALL"]},
            seccompProfile=RUNTIME_DEFAULT,
        ),
        differs={
            "user": [1000, 0],
            "no_new_privileges": True,
            "root_is_readonly": True,
            "capabilities": "",
            "seccomp": True,
        },
    ),
    Row("privileged", context(privileged=True), differs=EVERY, sandbox={"seccomp": False}),
    Row(
        "privileged-with-profile",
        context(privileged=True, seccompProfile=RUNTIME_DEFAULT),
        differs=EVERY,
        sandbox={"seccomp": False},
    ),
    Row(
        "added",
        context(capabilities={"add": ["NET_ADMIN"], "drop": ["MKNOD"]}),
        differs={"capabilities": CAPABILITIES.replace("MKNOD ", "NET_ADMIN ")},
    ),
    Row(
        "one-capability",
        context(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
        differs={"capabilities": "NET_BIND_SERVICE"},
    ),
    Row("default-mount", context(procMount="Default", allowPrivilegeEscalation=True)),
    Row(
        "inherits",
        pod=OF_POD,
        differs={"user": [1000, 2000], "groups": [2000, 3000, 4000, 4001], "seccomp": True},
    ),
    Row(
        "overrides",
        context(runAsUser=0, runAsGroup=5, runAsNonRoot=False, seccompProfile=UNCONFINED),
        pod=OF_POD,
        differs={"user": [0, 5], "groups": [5, 3000, 4000, 4001]},
    ),
    Row(
        "sysctls",
        pod=context(sysctls=SAFE_SYSCTLS),
        sandbox={"sysctls": {"net.ipv4.ip_unprivileged_port_start": "0", "kernel.shm_rmid_forced": "1"}},
    ),
    Row(
        "image-user",
        {"image": NUMBERED},
        pod=context(runAsNonRoot=True),
        differs={"user": [1234, 0]},
    ),
    Row("host-processes", pod={"hostPID": True}, sandbox={"namespaces": ["ipc", "mount", "network", "uts"]}),
    Row("host-ipc", pod={"hostIPC": True}, sandbox={"namespaces": ["mount", "network", "pid", "uts"]}),
    Row(
        "burstable",
        {"resources": {"requests": {"memory": "1Gi"}}},
        differs={"oom_score_adj": 1000 - 1000 * 2**30 // MEMORY_BYTES},
    ),
    Row(
        "guaranteed",
        {"resources": {"limits": {"memory": "64Mi", "cpu": "500m"}}},
        differs={"oom_score_adj": -997},
    ),
]


def facts(spec: dict[str, Any], *, oom_floor: int) -> dict[str, Any]:
    """The same facts from an OCI specification. A runtime with ``oom_floor`` raises every lower score to its own."""
    process, linux = spec["process"], spec["linux"]
    bounding = [name.removeprefix("CAP_") for name in process["capabilities"].get("bounding") or []]
    score = process.get("oomScoreAdj", 0)
    return {
        "masked": linux.get("maskedPaths") or [],
        "readonly": linux.get("readonlyPaths") or [],
        "capabilities": "every" if "SYS_ADMIN" in bounding else " ".join(sorted(bounding)),
        "no_new_privileges": process.get("noNewPrivileges", False),
        "seccomp": linux.get("seccomp") is not None,
        "root_is_readonly": spec["root"].get("readonly", False),
        "user": [process["user"]["uid"], process["user"]["gid"]],
        "groups": process["user"].get("additionalGids") or [],
        "oom_score_adj": -997 if score == oom_floor else score,
    }


def sandbox_facts(spec: dict[str, Any]) -> dict[str, Any]:
    """The facts of a sandbox from its OCI specification; a namespace that it lacks is the host's."""
    linux = spec["linux"]
    return {
        "seccomp": linux.get("seccomp") is not None,
        "sysctls": linux.get("sysctl") or {},
        "namespaces": sorted(entry["type"] for entry in linux["namespaces"] if entry["type"] != "cgroup"),
    }
