"""The systemd units do what docs/systemd.md says, and leave open what it names."""

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from probelet.cli.app import build_app
from probelet.config.kubelet import POD_LOGS_DIR
from probelet.server.control.state_dir import UNIT_STATE_DIR

from tests.support.paths import ROOT
from tests.support.required import missing

UNITS = ROOT / "deploy" / "systemd"
CRI = UNITS / "probelet.service"
USER = UNITS / "user" / "probelet.service"
PAGE = (ROOT / "docs" / "systemd.md").read_text()


def options(unit: str) -> dict[str, list[str]]:
    """The values of each option, in their order; a line that ends with a backslash goes on."""
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\\\n\s*", "", unit).splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def first_column(heading: str) -> list[str]:
    """The names in the first column of the table whose head begins with ``heading``."""
    table = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [row.split("`")[1].replace("\\|", "|") for row in table]


def sandbox() -> list[str]:
    """The options of the unit from the comment about the sandbox to the end of the section."""
    text = CRI.read_text().split("# The sandbox.", 1)[1].split("[Install]", 1)[0]
    return list(options(text))


@pytest.mark.parametrize("unit", [CRI, USER], ids=["cri", "user"])
def test_the_command_of_a_unit_parses(unit: Any) -> None:
    (command,) = options(unit.read_text())["ExecStart"]
    words = command.replace("%E", "/e").replace("%t", "/t").split()
    assert words[:2] == ["/usr/local/bin/probelet", "run"]
    build_app().parse_args(words[1:], exit_on_error=False, print_error=False)


def test_what_restore_full_needs_is_in_a_directory_that_systemd_keeps() -> None:
    unit = options(CRI.read_text())
    assert unit["StateDirectory"] == [UNIT_STATE_DIR.name]
    assert f"--state-dir {UNIT_STATE_DIR} --root-dir {UNIT_STATE_DIR}" in unit["ExecStart"][0]
    assert [f"/var/log/{name}" for name in unit["LogsDirectory"]] == [POD_LOGS_DIR]


@pytest.mark.parametrize("unit", [CRI, USER], ids=["cri", "user"])
def test_a_unit_promises_what_probelet_does(unit: Any) -> None:
    found = options(unit.read_text())
    assert (found["Type"], found["NotifyAccess"], found["Restart"]) == (["notify"], ["main"], ["always"])
    assert int(found["WatchdogSec"][0]) > 0
    assert found["OOMPolicy"] == ["continue"]
    # systemd would otherwise give up after five starts, for example while the runtime is updated.
    assert found["StartLimitIntervalSec"] == ["0"]
    # On SIGHUP probelet ends: there is no reload.
    assert "ExecReload" not in found


@pytest.mark.parametrize("limit", ["LimitNOFILE=1048576", "TasksMax=4096", "TasksMax=8192", "StateDirectory=probelet"])
def test_a_limit_on_the_page_is_that_of_a_unit(limit: str) -> None:
    assert f"`{limit}`" in PAGE
    assert limit in CRI.read_text() + USER.read_text()


def test_the_page_explains_each_option_of_the_sandbox() -> None:
    assert first_column("option") == sandbox()


def analysis() -> list[dict[str, Any]]:
    if shutil.which("systemd-analyze") is None:
        missing("systemd", "no systemd-analyze; on Debian: apt-get install systemd")
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--json=short", str(CRI)]
    ended = subprocess.run(command, capture_output=True, text=True)
    # It warns of options that it does not know.
    assert (ended.returncode, ended.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def test_the_page_names_all_that_the_sandbox_leaves_open() -> None:
    open_ones = {check["name"] for check in analysis() if check["exposure"] not in (None, "0", "0.0")}
    assert open_ones == set(first_column("`systemd-analyze security`"))


def test_the_page_has_the_exposure_of_the_unit() -> None:
    analysis()
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(CRI)]
    overall = re.search(r"probelet\.service: ([\d.]+) ", subprocess.run(command, capture_output=True, text=True).stdout)
    assert overall is not None
    assert f"an exposure of {overall[1]} (OK)" in PAGE
