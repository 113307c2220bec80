"""Reading the process table."""

import os

import pytest
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.process_tree import Process, living_descendants, parsed


@pytest.mark.parametrize(
    ("stat", "row"),
    [
        (b"42 (sh) S 7 42 42 34816 ...", Process(42, 7, 42, 42, True)),
        (b"42 (a) b (c) Z 7 41 40 0 ...", Process(42, 7, 41, 40, False)),
        (b"42 (S 1 1 1) R 7 41 40 0 ...", Process(42, 7, 41, 40, True)),
    ],
)
def test_a_command_name_cannot_confuse_the_row(stat: bytes, row: Process) -> None:
    assert parsed(stat) == row


def table(*edges: tuple[int, int], dead: tuple[int, ...] = ()) -> dict[int, Process]:
    return {pid: Process(pid, parent, pid, pid, pid not in dead) for pid, parent in edges}


def test_descendants_of_a_dead_process_are_found() -> None:
    rows = table((2, 1), (3, 2), (4, 3), (5, 1), dead=(3,))
    assert sorted(row.pid for row in living_descendants([2], rows)) == [2, 4]


def test_descendants_of_a_missing_root_are_found() -> None:
    assert [row.pid for row in living_descendants([9], table((10, 9), (11, 1)))] == [10]


def test_this_process_is_in_the_table() -> None:
    row = process_tree.processes()[os.getpid()]
    assert (row.parent, row.group, row.session, row.alive) == (os.getppid(), os.getpgrp(), os.getsid(0), True)


def test_the_environment_of_a_process_that_is_gone_is_empty() -> None:
    assert process_tree.environment_of(2**22 + 1) == {}
    assert b"PATH" in process_tree.environment_of(os.getpid())
