"""The kernel parameters that a kubelet sets for the whole machine, kept and put back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NAMES = (
    *("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"),
    *("kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes"),
)
"""Below /proc/sys: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go, release 1.36."""


def values() -> dict[str, str]:
    return {name: _file(name).read_text() for name in NAMES}


def put_back(before: Mapping[str, str]) -> None:
    for name, value in before.items():
        if _file(name).read_text() != value:
            _file(name).write_text(value)


@contextmanager
def kept() -> Iterator[None]:
    """Puts the values back at the end."""
    before = values()
    try:
        yield
    finally:
        put_back(before)


def _file(name: str) -> Path:
    return Path("/proc/sys", name)
