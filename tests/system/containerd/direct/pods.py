"""The pods of these tests: every security context, and a few more that an exec can see."""

from tests.system.containerd.security_contexts import ROWS, Row, context

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
# Tests pause this one, limit it, and end its processes.
VICTIM, NEIGHBOUR = Row("victim"), Row("neighbour")

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
    VICTIM,
    NEIGHBOUR,
)
PODS = (*ROWS, *MORE)

PROFILED = frozenset({"hardened", "inherits"})
"""Pods with a seccomp profile, which the helper leaves to the runtime."""

CONFINED = sorted({row.name for row in PODS} - PROFILED - {VICTIM.name, JAILED.name})
"""Pods that the helper enters."""
