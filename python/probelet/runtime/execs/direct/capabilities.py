"""Names and numbers of capabilities (linux/capability.h, 6.18)."""

from collections.abc import Iterable
from typing import Final

from probelet.runtime.execs.direct.fallback import FallbackError, Reason

CAPABILITIES: Final = tuple(
    """
    CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
    NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN
    SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
    MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE
    """.split()  # noqa: SIM905
)

_NUMBERS: Final = {f"CAP_{name}": number for number, name in enumerate(CAPABILITIES)}


def capability_set(names: Iterable[str]) -> int:
    """A set as the kernel has it, one bit each. Raises FallbackError for a name that only the runtime may know."""
    found = 0
    for name in names:
        if name not in _NUMBERS:
            raise FallbackError(Reason.CAPABILITIES, f"capability {name!r} is not known")
        found |= 1 << _NUMBERS[name]
    return found
