"""Refused features, ignored fields, and the requirements of the process runtime."""

from pathlib import Path
from typing import Any

import pytest
from probelet.spec import ignored_fields, require_command
from probelet.spec.rules.needed import missing_programs
from probelet.spec.rules.runtime_kind import RuntimeKind
from probelet.spec.rules.unsupported import DETAIL, NOT_ON_CREATE, unsupported_fields

from tests.unit.spec.pods import pod_of, probed

EXEC = {"exec": {"command": ["true"]}}
APP = {"containers": [{"name": "app"}]}
C = "spec.containers[0]"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"ephemeralContainers": [{"name": "a"}]}, f"spec.ephemeralContainers: Forbidden: {NOT_ON_CREATE}"),
        ({"hostNetwork": True}, f"spec.hostNetwork: Forbidden: {DETAIL}"),
    ],
)
def test_refused_features_are_named(spec: dict[str, Any], message: str) -> None:
    assert [str(error) for error in unsupported_fields(pod_of(APP | spec))] == [message]


@pytest.mark.parametrize("runtime", ["process", "cri"])
def test_a_field_of_a_switched_off_gate_is_ignored_with_a_warning(runtime: RuntimeKind) -> None:
    pod = pod_of({"containers": [{"name": "app", "lifecycle": {"stopSignal": "SIGUSR1"}}]})
    [line] = [str(problem) for problem in ignored_fields(pod, runtime)]
    assert line == (
        f"warning: {C}.lifecycle.stopSignal: ignored: the gate ContainerStopSignals is alpha and off, "
        "as in a cluster by default"
    )


def test_an_ordinary_pod_is_not_refused() -> None:
    pod = pod_of(
        {
            "hostNetwork": False,
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


def test_fields_without_effect_get_one_line_each() -> None:
    pod = probed(
        EXEC,
        command=["true"],
        image="nginx",
        resources={"limits": {"cpu": "1"}},
        volumeMounts=[{"name": "a", "mountPath": "/a"}],
        env=[
            {"name": "A", "value": "b"},
            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
        tty=True,
    )
    lines = [str(problem) for problem in ignored_fields(pod, "process")]
    assert [line.split(": ")[:2] for line in lines] == [
        ["warning", f"{C}.{name}"] for name in ("image", "resources", "tty", "volumeMounts", "env[1].valueFrom")
    ]
    assert lines[0] == (
        f"warning: {C}.image: ignored: a container is a process of this machine, started from command and args"
    )


def test_pod_fields_without_effect() -> None:
    fields = {"volumes": [{"name": "a"}], "securityContext": {}, "hostname": "h", "nodeSelector": {"a": "b"}}
    pod = pod_of(APP | fields)
    assert [problem.field for problem in ignored_fields(pod, "process")] == ["spec.hostname", "spec.volumes"]
    assert [problem.field for problem in ignored_fields(pod, "cri")] == ["spec.volumes"]


def test_the_process_runtime_needs_a_command() -> None:
    pod = pod_of({"containers": [{"name": "a", "args": ["x"]}, {"name": "b", "command": ["true"]}]})
    assert [str(error) for error in require_command(pod)] == [
        f"{C}.command: Required value: the process runtime has no image to take it from"
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
