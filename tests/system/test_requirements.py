"""What ``make`` says on a machine that lacks something: every missing part at once, and what installs it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.e2e

# What every machine with make has.
ALWAYS = ("make", "sh", "awk", "sed", "find", "env")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder for PATH: a machine with all that probelet needs."""
    for program in ALWAYS:
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    program_of(tmp_path, "python3", "exit 0")
    program_of(tmp_path, "cargo", "echo 'cargo 1.88.0 (abc 2025-01-01)'")
    program_of(tmp_path, "cc", "exit 0")
    return tmp_path


def program_of(machine: Path, name: str, body: str) -> None:
    (machine / name).unlink(missing_ok=True)
    (machine / name).write_text(f"#!/bin/sh\n{body}\n")
    (machine / name).chmod(0o755)


def lacks(machine: Path) -> list[str]:
    """What make says; the test fails if the exit code does not go with it."""
    # `make test PYTHON=... CC=...` gives its own choice on to the tests.
    chosen = ("MAKE", "PYTHON", "CC")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(chosen)}
    environment |= {"PATH": str(machine)}
    ended = subprocess.run(["make", "tools"], cwd=ROOT, env=environment, capture_output=True, text=True)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("make")]
    assert (ended.returncode != 0) == bool(said), ended.stderr
    return said


def test_a_machine_that_has_everything_gets_no_message(machine: Path) -> None:
    assert lacks(machine) == []


def test_everything_that_is_missing_is_named_at_once(machine: Path) -> None:
    for program in ("python3", "cargo", "cc"):
        (machine / program).unlink()
    assert lacks(machine) == [
        "probelet needs Python >= 3.11: no python3 found",
        "  try: apt-get install python3 python3-venv   (or make PYTHON=/path/to/python3)",
        "probelet needs cargo >= 1.88: no cargo found",
        "  try: https://rustup.rs   (or apt-get install rustup && rustup default stable)",
        "probelet needs a C compiler: no cc found",
        "  try: apt-get install build-essential   (or make CC=/path/to/cc)",
    ]


@pytest.mark.parametrize(
    ("program", "body", "message"),
    [
        (
            "python3",
            'case "$2" in *exit*) exit 1;; *) echo 3.10;; esac',
            "Python >= 3.11: python3 is 3.10",
        ),
        ("python3", 'case "$2" in *ensurepip*) exit 1;; esac', "Python's module venv: python3 has none"),
        ("cargo", "echo 'cargo 1.63.0 (abc 2022-01-01)'", "cargo >= 1.88: this is cargo 1.63.0 (abc 2022-01-01)"),
        ("cargo", "exit 1", "cargo >= 1.88: 'cargo --version' fails"),
    ],
)
def test_what_is_too_old_or_incomplete_is_named(machine: Path, program: str, body: str, message: str) -> None:
    program_of(machine, program, body)
    first, hint = lacks(machine)
    assert first == f"probelet needs {message}"
    assert hint.startswith("  try: ")
