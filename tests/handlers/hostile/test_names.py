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
exec {python} -m tests.handlers.hostile.names.machine
"""


def test_each_answer_counts_as_in_go_and_costs_no_other_name(tmp_path: Path) -> None:
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    (tmp_path / "nsswitch.conf").write_text("hosts: files dns\n")
    script = SETUP.format(folder=tmp_path, python=sys.executable)
    command = ["unshare", "--net", "--mount", "sh", "-ec", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found[name][0] for name in WRONG} == dict.fromkeys(WRONG, "Failure")
    assert {name: found[name][0] for name in RIGHT} == dict.fromkeys(RIGHT, "Success")
    healthy = [worker for name, worker in found.items() if name.startswith("healthy-")]
    assert {tuple(worker) for worker in healthy} == {("Success", 0, 0)}
    assert sum(errors for _, _, errors in found.values()) == 0
