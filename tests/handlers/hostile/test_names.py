"""A name server that sends circles, forgeries, floods and nothing, beside workers whose names it answers well."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.handlers.hostile.names.answers import RIGHT, WRONG
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a machine with a name server of its own"),
]

SETUP = """
ip link set lo up
mount --bind {folder}/resolv.conf /etc/resolv.conf
mount --bind {folder}/nsswitch.conf /etc/nsswitch.conf
exec {python} -m tests.handlers.hostile.names.machine {arguments}
"""
HOSTILE, HONEST, ALSO_HONEST = "127.0.0.1", "127.0.0.2", "127.0.0.3"
FOR_EVER_SECONDS = 3600
BELIEVED = {"no-such-host", "nothing", "alias-of-itself", "short-address"}
"""Answers that say "no address", and those whose first record has a head that can be read: nobody asks another server
after them (dnsclient_unix.go:tryOneName; Go 1.26's own resolver fails for these four names and no other)."""

Found = dict[str, tuple[str, int, int]]


def played(folder: Path, timeout_seconds: int, *servers: str, options: str = "") -> Found:
    """The result, the failures and the errors of each worker, on a machine that asks these name servers."""
    lines = [*(f"nameserver {one}" for one in servers), f"options timeout:1 attempts:1 {options}", ""]
    (folder / "resolv.conf").write_text("\n".join(lines))
    (folder / "nsswitch.conf").write_text("hosts: files dns\n")
    arguments = " ".join([str(timeout_seconds), *(one for one in servers if one != HOSTILE)])
    script = SETUP.format(folder=folder, python=sys.executable, arguments=arguments)
    command = ["unshare", "--net", "--mount", "sh", "-ec", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    found = {name: tuple(worker) for name, worker in json.loads(done.stdout).items()}
    healthy = {worker for name, worker in found.items() if name.startswith("healthy-")}
    assert healthy == {("Success", 0, 0)}
    return found


def test_each_answer_counts_as_in_go_and_costs_no_other_name(tmp_path: Path) -> None:
    found = played(tmp_path, 2, HOSTILE)
    assert {name: found[name][0] for name in WRONG} == dict.fromkeys(WRONG, "Failure")
    assert {name: found[name][0] for name in RIGHT} == dict.fromkeys(RIGHT, "Success")
    assert sum(errors for _, _, errors in found.values()) == 0


def test_a_hostile_server_behind_an_honest_one_decides_nothing(tmp_path: Path) -> None:
    found = played(tmp_path, FOR_EVER_SECONDS, HONEST, HOSTILE, ALSO_HONEST)
    assert set(found.values()) == {("Success", 0, 0)}


def test_an_honest_server_behind_a_hostile_one_is_asked_after_answers_that_say_nothing(tmp_path: Path) -> None:
    found = played(tmp_path, FOR_EVER_SECONDS, HOSTILE, HONEST)
    assert {name for name, worker in found.items() if worker[0] == "Failure"} == BELIEVED


def test_a_hostile_server_that_is_asked_in_turn_costs_no_name_that_it_answers_well(tmp_path: Path) -> None:
    played(tmp_path, FOR_EVER_SECONDS, HONEST, HOSTILE, ALSO_HONEST, options="rotate")
