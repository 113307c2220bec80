"""What a container's configuration takes from the machine."""

from fractions import Fraction
from pathlib import Path

from probelet.node.effects.linux.host import MASKED_PATHS, Host, this_host


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_sensors_of_every_possible_cpu_are_masked(tmp_path: Path) -> None:
    cpus = tmp_path / "sys/devices/system/cpu"
    write(cpus / "possible", "0-1,8\n")
    for cpu in (0, 8, 9):
        (cpus / f"cpu{cpu}/thermal_throttle").mkdir(parents=True)
    assert this_host(root=tmp_path).masked_paths == (
        *MASKED_PATHS,
        "/sys/devices/system/cpu/cpu0/thermal_throttle",
        "/sys/devices/system/cpu/cpu8/thermal_throttle",
    )


def test_a_machine_that_tells_nothing_masks_what_every_machine_masks(tmp_path: Path) -> None:
    assert this_host(root=tmp_path) == Host()
    write(tmp_path / "sys/devices/system/cpu/possible", "some")
    assert this_host(root=tmp_path) == Host()
    assert len(MASKED_PATHS) == 12


def test_memory_and_the_sizes_of_huge_pages(tmp_path: Path) -> None:
    write(tmp_path / "proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n")
    for name in ("hugepages-64kB", "hugepages-2048kB", "hugepages-1048576kB", "other"):
        (tmp_path / "sys/kernel/mm/hugepages" / name).mkdir(parents=True)
    found = this_host(root=tmp_path, seccomp_default=True)
    assert found.memory_bytes == 8 * 2**30
    assert found.huge_page_sizes == ("1GB", "2MB", "64KB")
    assert found.seccomp_default


def test_what_the_node_has_for_pods(tmp_path: Path) -> None:
    write(tmp_path / "sys/devices/system/cpu/online", "0-1,3\n")
    write(tmp_path / "proc/meminfo", "MemTotal:        1048576 kB\n")
    host = this_host(root=tmp_path, disk=tmp_path / "not" / "made" / "yet")
    disk = host.disk_bytes
    assert disk > 0
    assert host.allocatable() == {
        "cpu": 3,
        "memory": 2**30 - 100 * 2**20,
        "ephemeral-storage": Fraction(9 * disk, 10),
    }
    assert Host().allocatable() == {}, "an amount that is not known is no amount"
