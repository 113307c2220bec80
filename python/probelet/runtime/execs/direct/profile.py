"""The seccomp profile of a container, as the OCI specification has it.

runc makes the filter (``filters.py``), so that only what runc's filter does not hold is decided here: a filter that
asks another process needs that process, and a field that is not understood may ask for more than a filter.
"""

from typing import Annotated, Final

import msgspec

from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.specification import Strict

_ACTIONS: Final = frozenset(
    f"SCMP_ACT_{name}" for name in ("ALLOW", "ERRNO", "KILL", "KILL_PROCESS", "KILL_THREAD", "LOG", "TRACE", "TRAP")
)
"""Every action but SCMP_ACT_NOTIFY, which asks another process (runtime-spec 1.2: ``LinuxSeccompAction``)."""

_FLAGS: Final = frozenset(f"SECCOMP_FILTER_FLAG_{name}" for name in ("TSYNC", "LOG", "SPEC_ALLOW"))
"""The flags that runc's process shows, or that mean nothing for a process with one thread."""

_Value = Annotated[int, msgspec.Meta(ge=0)]


class Argument(Strict, frozen=True):
    """A condition for an argument of a call."""

    index: _Value
    value: _Value
    op: str
    value_two: _Value = 0


class Syscall(Strict, frozen=True):
    """Calls with an action."""

    names: list[str]
    action: str
    errno_ret: _Value | None = None
    args: list[Argument] | None = None


class Profile(Strict, frozen=True):
    """The whole profile."""

    default_action: str
    default_errno_ret: _Value | None = None
    architectures: list[str] | None = None
    flags: list[str] | None = None
    listener_path: str = ""
    listener_metadata: str = ""
    syscalls: list[Syscall] | None = None


def profile_of(text: msgspec.Raw) -> bytes | None:
    """The profile as JSON; None if there is none.

    Raises FallbackError for a profile that is not the same in a filter that runc has loaded elsewhere.
    """
    if bytes(text) == b"null":
        return None
    try:
        profile = msgspec.json.decode(text, type=Profile)
    except msgspec.DecodeError as error:
        raise FallbackError(Reason.SECCOMP, f"linux.seccomp: {error}") from None
    actions = {profile.default_action, *(call.action for call in profile.syscalls or [])}
    if profile.listener_path or profile.listener_metadata or not actions <= _ACTIONS:
        raise FallbackError(Reason.SECCOMP, f"linux.seccomp: {sorted(actions - _ACTIONS)} ask another process")
    if foreign := set(profile.flags or []) - _FLAGS:
        raise FallbackError(Reason.SECCOMP, f"linux.seccomp.flags: {sorted(foreign)} are not understood")
    return bytes(text)
