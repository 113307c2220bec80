"""Refused features, and the requirements of the embedded runtime."""

from pathlib import Path
from typing import Any

import pytest
from probelet.spec import require_command
from probelet.spec.rules.needed import missing_programs
from probelet.spec.rules.unsupported import NOT_ON_CREATE, unsupported_fields

from tests.unit.spec.pods import pod_of, probed

EXEC = {"exec": {"command": ["true"]}}
APP = {"containers": [{"name": "app"}]}
C = "spec.containers[0]"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"ephemeralContainers": [{"name": "a"}]}, f"spec.ephemeralContainers: Forbidden: {NOT_ON_CREATE}"),
        (
            {"schedulingGates": [{"name": "a"}]},
            "spec.schedulingGates: Forbidden: a pod of this node cannot have a gate: "
            "spec.nodeName cannot be set until all schedulingGates have been cleared",
        ),
        (
            {"os": {"name": "windows"}},
            'spec.os.name: Invalid value: "windows": this node runs linux; must be linux or absent',
        ),
    ],
)
def test_refused_features_are_named(spec: dict[str, Any], message: str) -> None:
    assert [str(error) for error in unsupported_fields(pod_of(APP | spec))] == [message]


def test_an_ordinary_pod_is_not_refused() -> None:
    pod = pod_of(
        {
            "hostNetwork": True,
            "os": {"name": "linux"},
            "initContainers": [{"name": "setup"}, {"name": "side", "restartPolicy": "Always", "startupProbe": EXEC}],
            "containers": [
                {
                    "name": "app",
                    "restartPolicy": "Always",
                    "livenessProbe": {"httpGet": {"port": "http"}},
                    "readinessProbe": {"tcpSocket": {"port": 80}},
                    "startupProbe": EXEC,
                    "lifecycle": {"postStart": {"httpGet": {"port": 1}}, "preStop": {"sleep": {"seconds": 1}}},
                    "restartPolicyRules": [{"action": "RestartAllContainers"}],
                }
            ],
        }
    )
    assert unsupported_fields(pod) == []


def test_the_process_runtime_needs_a_command() -> None:
    pod = pod_of({"containers": [{"name": "a", "args": ["x"]}, {"name": "b", "command": ["true"]}]})
    assert [str(error) for error in require_command(pod)] == [
        f"{C}.command: Required value: the embedded runtime has no images, so name a program of this machine (or "
        "give run a --runtime, or --stand-in)"
    ]


def test_missing_programs_are_named_with_the_consequence() -> None:
    missing = {"exec": {"command": ["/no/such"]}}
    pod = probed(
        missing,
        command=["no-such-program", "true"],
        readinessProbe={"exec": {"command": ["sh"]}},
        lifecycle={"preStop": missing, "postStart": {"httpGet": {"port": 1}}},
    )
    assert [str(error) for error in missing_programs(pod)] == [
        f'{C}.{field}[0]: Invalid value: "{value}": no such program on this machine, {follows}'
        for field, value, follows in (
            ("command", "no-such-program", "the container cannot start without it"),
            ("livenessProbe.exec.command", "/no/such", "every run is an error without it"),
            ("lifecycle.preStop.exec.command", "/no/such", "the hook fails without it"),
        )
    ]


def test_a_program_is_searched_in_the_containers_path(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    relative = {"containers": [{"name": "app", "command": ["./tool"], "workingDir": str(tmp_path)}]}
    through_path = {
        "containers": [{"name": "app", "command": ["tool"], "env": [{"name": "PATH", "value": str(tmp_path)}]}]
    }
    assert len(missing_programs(pod_of(relative)) + missing_programs(pod_of(through_path))) == 2
    (tmp_path / "tool").chmod(0o755)
    assert missing_programs(pod_of(relative)) + missing_programs(pod_of(through_path)) == []


def test_a_program_that_depends_on_the_environment_is_left_to_the_container() -> None:
    assert missing_programs(pod_of({"containers": [{"name": "app", "command": ["$(HOME)/tool"]}]})) == []
    path = [{"name": "PATH", "value": "$(BASE)/bin"}]
    assert missing_programs(pod_of({"containers": [{"name": "app", "command": ["tool"], "env": path}]})) == []


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["/bin/sl\0eep"]},
        {"command": ["sl\0eep"]},
        {"command": ["./tool"], "workingDir": "/\0"},
        {"command": ["tool"], "env": [{"name": "PATH", "value": "/bin\0"}]},
        {"command": ["x/" * 100_000]},
    ],
)
def test_a_name_that_no_file_can_have_is_a_missing_program(container: dict[str, Any]) -> None:
    assert len(missing_programs(pod_of({"containers": [{"name": "app", **container}]}))) == 1
