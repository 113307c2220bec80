"""Why an attempt goes over the runtime although ``execMode`` is direct."""

from enum import StrEnum

from probelet.errors import ProbeletError


class Reason(StrEnum):
    """A label of ``probelet_exec_direct_fallbacks_total``."""

    HELPER = "helper"
    """The helper has not started, has ended, or cannot confine anything where it runs."""
    RUNTIME = "runtime"
    """The container's runtime is not runc under containerd, for example a virtual machine."""
    SPECIFICATION = "specification"
    """A field of the OCI specification that is not understood."""
    SECCOMP = "seccomp"
    """The container has a seccomp profile whose filter asks another process or cannot be read from runc."""
    LABEL = "label"
    """The container has an AppArmor or SELinux label, or the helper has another one than the container."""
    USER_NAMESPACE = "user_namespace"
    """The container has a user namespace of its own."""
    CAPABILITIES = "capabilities"
    """The container has capabilities that the helper does not have, or does not know."""
    LIMITS = "limits"
    """The container has a hard limit above the helper's, or the runtime's processes are scheduled in a special way."""
    SIZE = "size"
    """Command and environment are too long for one message."""
    IDENTITY = "identity"
    """The process is not, or no longer, the container's first one."""
    CGROUP = "cgroup"
    """The first process is not in the cgroup that bears the container's name (in version 2, not below it), or the
    cgroup cannot be joined."""
    NAMESPACES = "namespaces"
    """The first process has a namespace that the specification does not name."""
    ROOT = "root"
    """The first process has changed its root."""
    PAUSED = "paused"
    """The container is paused."""
    BUSY = "busy"
    """The helper has as many commands as it keeps: they run, or cannot be ended."""
    SETUP = "setup"
    """A step before the start of the program failed."""
    PROGRAM = "program"
    """The program cannot be found or started; the runtime says how."""
    STUCK = "stuck"
    """The program did not start within its timeout, or an earlier command of the container cannot be ended, because a
    file system holds it."""


REFUSALS = {
    1: Reason.HELPER,
    2: Reason.IDENTITY,
    3: Reason.CGROUP,
    4: Reason.NAMESPACES,
    5: Reason.LABEL,
    6: Reason.ROOT,
    7: Reason.PAUSED,
    8: Reason.BUSY,
    9: Reason.SETUP,
    10: Reason.PROGRAM,
    11: Reason.SIZE,
    12: Reason.SPECIFICATION,
    13: Reason.STUCK,
}
"""The helper's and the engine's numbers (rust/enter-protocol/src/answer.rs: ``Refusal``)."""

STEPS = (
    "",
    "descriptors",
    "oom_score_adj",
    "cgroup",
    "priority",
    "namespaces",
    "root",
    "fork",
    "session",
    "keyring",
    "no_new_privs",
    "limits",
    "working directory",
    "environment",
    "bounding set",
    "user",
    "capabilities",
    "dumpable",
    "program",
    "killed before its start",
    "seccomp",
)
"""The helper's steps, by number (``Step`` beside ``Refusal``)."""


_DETAILS = {
    1: "it was lost",
    11: "the request is too long for one message",
    12: "a word of the command holds a NUL",
    13: "the program did not start within its timeout, or an earlier command cannot be ended",
}
"""The findings of the engine before it asks the helper."""


class FallbackError(ProbeletError):
    """This container's attempts go over the runtime."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        """One line for the log."""


def refused(refusal: tuple[int, int, int]) -> FallbackError:
    """The refusal in numbers: why, the step, the system's error number. The engine asks no helper that could have other
    numbers (``VERSION`` of the protocol)."""
    why, step, errno = refusal
    detail = _DETAILS.get(why) or STEPS[step] or "the container"
    return FallbackError(REFUSALS[why], f"{detail}: error {errno}" if errno else detail)
