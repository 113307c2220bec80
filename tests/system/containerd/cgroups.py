"""The cgroups of the machine, also while other tests' cgroups come and go."""

import os


def cgroups_with(part: str) -> set[str]:
    """Paths of the cgroups whose name has ``part``. ``os.walk`` passes over a folder that ends meanwhile."""
    found = os.walk("/sys/fs/cgroup")
    return {f"{folder}/{name}" for folder, names, _ in found for name in names if part in name}
