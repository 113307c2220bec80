"""How the descriptors of a service are divided, and which limit of them a program inherits."""

import subprocess
import sys
from collections.abc import Iterable

import pytest
from probelet.daemon.descriptors import LIMIT_MIN, Descriptors, divided

from tests.support.limited import limited


def run(program: str, limits: tuple[int, int]) -> list[str]:
    """What a Python program prints that was started with these limits."""
    ended = subprocess.run(
        [*limited(*limits), sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
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


SPAWN = (
    "from probelet.base import open_files",
    "from probelet.runtime.embedded.child.spawn import spawn",
    "import os, resource",
    "def start():",
    "    os.waitpid(spawn(['sh', '-c', 'ulimit -Sn; ulimit -Hn'], {b'PATH': b'/usr/bin:/bin'}, '', 1, 2), 0)",
)

RAISED: Iterable[str] = (
    *SPAWN,
    "print(open_files.raise_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)",
    "print(open_files.inherited(), flush=True)",
    "open_files.lower(open_files.inherited())",
    "start()",
)


def test_a_raised_limit_can_be_given_back_before_containers_start() -> None:
    assert run("\n".join(RAISED), (300, 400)) == ["400", "400", "300", "300", "400"]


FULL: Iterable[str] = (
    *SPAWN,
    "held = [open_files.aside(os.open('/dev/null', os.O_RDONLY)) for _ in range(350)]",
    "print(len(set(held)), max(held) >= 300, os.get_inheritable(max(held)), flush=True)",
    "start()",
)


def test_a_runtime_with_many_containers_goes_on_beyond_its_limit_and_no_container_sees_that() -> None:
    assert run("\n".join(FULL), (300, 400)) == ["350", "True", "False", "300", "400"]


NONE_LEFT: Iterable[str] = (
    *SPAWN,
    "fd = os.open('/dev/null', os.O_RDONLY)",
    "print(open_files.aside(fd) == fd, flush=True)",
    "start()",
)


@pytest.mark.parametrize("limits", [(40, 40), (300, 400)])
def test_a_descriptor_keeps_its_number_while_there_is_room_and_without_a_higher_limit(limits: tuple[int, int]) -> None:
    assert run("\n".join(NONE_LEFT), limits) == ["True", *map(str, limits)]
