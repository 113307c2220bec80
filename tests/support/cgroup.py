"""A cgroup of its own for a kubelet, which kills what it does not know in the cgroups below its root."""

from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def make(name: str) -> None:
    """Make the cgroup in each hierarchy."""
    for hierarchy in _hierarchies():
        group = hierarchy / name
        group.mkdir()
        for file in ("cpuset.cpus", "cpuset.mems"):
            # A cgroup of version 1 has no CPUs at first, and takes no process then.
            if (hierarchy / file).exists():
                (group / file).write_text((hierarchy / file).read_text())


def remove(name: str) -> bool:
    """Remove the cgroup and the ones below it. False if one stays, because a process is still in it."""
    for hierarchy in _hierarchies():
        below = sorted((path for path in (hierarchy / name).rglob("*") if path.is_dir()), reverse=True)
        for group in [*below, hierarchy / name]:
            with suppress(OSError):
                group.rmdir()
    return not exists(name)


def exists(name: str) -> bool:
    """Whether a hierarchy has the cgroup."""
    return any((hierarchy / name).exists() for hierarchy in _hierarchies())


def _hierarchies() -> list[Path]:
    if (ROOT / "cgroup.controllers").exists():
        return [ROOT]
    return [
        path for path in ROOT.iterdir() if path.is_dir() and not path.is_symlink() and (path / "cgroup.procs").exists()
    ]
