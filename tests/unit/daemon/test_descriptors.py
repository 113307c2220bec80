"""How the descriptors of a service are divided, and which limit of them a program inherits."""

import resource
import subprocess
import sys
from collections.abc import Iterable

import pytest
from probelet.daemon.descriptors import LIMIT_MIN, Descriptors, divided


def run(program: str, limits: tuple[int, int]) -> list[str]:
    """What a Python program prints that was started with these limits."""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits),
    )
    return ended.stdout.split()


def held(parts: Descriptors) -> int:
    """Descriptors that these connections may take. A caller's has an end on each side of the gate, and gRPC's."""
    return parts.pages + parts.control + 3 * parts.callers


@pytest.mark.parametrize("limit", [LIMIT_MIN, 200, 256, 1024, 4096, 1_048_576])
def test_what_others_can_open_leaves_the_reserve_a_part_for_the_service_itself(limit: int) -> None:
    reserved = min(limit // 4, 1024)
    assert held(divided(limit)) <= reserved * 2 // 3
    assert min(divided(limit).pages, divided(limit).control, divided(limit).callers) >= 2


def test_with_enough_descriptors_each_server_has_its_full_number() -> None:
    assert divided(4096) == divided(1_048_576) == Descriptors()


RAISED: Iterable[str] = (
    "import resource, subprocess, sys",
    "from probelet import open_files",
    "from probelet.cri.process.child.spawn import spawn",
    "import os",
    "print(open_files.raise_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)",
    "os.waitpid(spawn(['sh', '-c', 'ulimit -Sn; ulimit -Hn'], {b'PATH': b'/usr/bin:/bin'}, '', 1, 2), 0)",
)


def test_the_service_has_the_hard_limit_and_its_containers_the_one_it_was_started_with() -> None:
    assert run("\n".join(RAISED), (300, 400)) == ["400", "400", "300", "400"]


FULL: Iterable[str] = (
    "import os",
    "from probelet.cri.process.child.spawn import spawn",
    "def start():",
    "    os.waitpid(spawn(['sh', '-c', 'ulimit -Sn'], {b'PATH': b'/usr/bin:/bin'}, '', 1, 2), 0)",
    "start()",
    "held = [os.open('/dev/null', os.O_RDONLY) for _ in range(290)]",
    "start()",
    "held += [os.open('/dev/null', os.O_RDONLY) for _ in range(60)]",
    "start()",
)


def test_a_runtime_with_many_containers_goes_on_beyond_its_limit_and_no_container_sees_that() -> None:
    assert run("\n".join(FULL), (300, 400)) == ["300"] * 3
