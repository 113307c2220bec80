"""The pods of these tests: every security context, and a few more that an exec can see."""

from tests.system.containerd.direct.profiles import local
from tests.system.containerd.security_contexts import ROWS, RUNTIME_DEFAULT, Row, context

SHARED = Row("shared-processes", pod={"shareProcessNamespace": True})
HOST_NETWORK = Row("host-network", pod={"hostNetwork": True})
READ_ONLY = Row("read-only", context(readOnlyRootFilesystem=True))
NO_ESCALATION = Row("no-escalation", context(runAsUser=1000, allowPrivilegeEscalation=False))
DROP_ALL = Row("drop-all", context(capabilities={"drop": ["ALL"]}))
PTRACE = Row("ptrace", context(capabilities={"add": ["SYS_PTRACE"]}))
GROUPS = Row("groups", pod=context(runAsUser=1000, supplementalGroups=[4000, 4001], fsGroup=3000))
WORKING_DIRECTORY = Row("working-directory", {"workingDir": "/srv/work"})
ENVIRONMENT = Row(
    "environment",
    {"env": [{"name": "A", "value": "1"}, {"name": "EMPTY", "value": ""}, {"name": "HOME", "value": "/elsewhere"}]},
)
LIMITED = Row("limited", {"resources": {"limits": {"memory": "64Mi"}}})
JAIL = "mkdir -p /jail/bin && cp /bin/busybox /jail/bin/sleep && exec chroot /jail /bin/sleep 100000"
JAILED = Row("jailed", {"command": ["sh", "-c", JAIL]})
READ_ONLY_PROC = Row(
    "read-only-proc",
    {"command": ["sh", "-c", "mount -o remount,ro /proc && exec sleep 100000"], **context(privileged=True)},
)
DEFAULT_PROFILE = Row("runtime-default", context(seccompProfile=RUNTIME_DEFAULT))
DEFAULT_PROFILE_AGAIN = Row("runtime-default-again", context(seccompProfile=RUNTIME_DEFAULT))
OWN_PROFILE = Row("own-profile", context(seccompProfile=local("own")))
LATE_PROFILE = Row(
    "late-profile", context(runAsUser=1000, allowPrivilegeEscalation=False, seccompProfile=local("late"))
)
ASKING_PROFILE = Row("asking-profile", context(runAsUser=1000, seccompProfile=local("asking")))
# Its first process outlives `killall sleep`.
LEAFED = Row("leafed", {"command": ["sh", "-c", "while :; do tail -f /dev/null; done"]})
# Tests pause this one, limit it, and end its processes.
VICTIM, NEIGHBOUR = Row("victim"), Row("neighbour")
# Tests move its first process into a cgroup below.
DELEGATING = Row("delegating")

MORE = (
    SHARED,
    HOST_NETWORK,
    READ_ONLY,
    NO_ESCALATION,
    DROP_ALL,
    PTRACE,
    GROUPS,
    WORKING_DIRECTORY,
    ENVIRONMENT,
    LIMITED,
    JAILED,
    READ_ONLY_PROC,
    DEFAULT_PROFILE,
    DEFAULT_PROFILE_AGAIN,
    OWN_PROFILE,
    LATE_PROFILE,
    ASKING_PROFILE,
    LEAFED,
    VICTIM,
    NEIGHBOUR,
    DELEGATING,
)
PODS = (*ROWS, *MORE)

ALONE = (LEAFED, VICTIM, NEIGHBOUR, DELEGATING)
TOGETHER = "together"


def _can_share(row: Row) -> bool:
    """Whether a row says nothing of its pod. Resources and privileges of one container are also its pod's."""
    is_privileged = row.container.get("securityContext", {}).get("privileged", False)
    return not (row in ALONE or row.pod or is_privileged or "resources" in row.container)


SHARING = [row for row in PODS if _can_share(row)]
"""Containers of one pod, ``TOGETHER``: a sandbox for each would take as long as the container itself."""

PROFILED = ("hardened", "inherits", "runtime-default", "own-profile", "late-profile", "asking-profile")
"""Pods with a seccomp profile."""

CONFINED = sorted({row.name for row in PODS} - {VICTIM.name, JAILED.name})
"""Pods whose facts tests compare."""

TEN = {
    "root": "bare",
    "non-root": "image-user",
    "every capability dropped": "drop-all",
    "an added capability": "added",
    "RuntimeDefault": "runtime-default",
    "Unconfined": "overrides",
    "a profile of its own": "own-profile",
    "privileged": "privileged",
    "a read-only root": "read-only",
    "supplemental groups": "groups",
}
"""The security contexts that pods really have, each with a pod."""
