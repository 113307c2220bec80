"""What is ignored is one line, whatever the number of pods, files and fields."""

from pathlib import Path
from typing import Any

import msgspec
from probelet.node.source.ignored_summary import IgnoredSummary
from probelet.node.source.watch import errors_last
from probelet.spec import ignored_fields
from probelet.spec.fields.ignored import LABELS_MAX, Ignored, summary
from probelet.spec.read.load import Manifest
from probelet.spec.text.problem import Problem

from tests.unit.spec.pods import pod_of


def manifest(name: str, **container: Any) -> Manifest:
    pod = pod_of({"containers": [{"name": "app", "command": ["true"], **container}]}, name=name)
    return Manifest(pod, Path(f"{name}.yaml"), 1, "d", ignored=tuple(ignored_fields(pod, "process")))


def test_the_line_counts_the_pods_of_each_kind_of_field() -> None:
    lines = IgnoredSummary("process")
    image, tty = manifest("a", image="i"), manifest("b", image="i", tty=True)
    confined = manifest("c", image="i", securityContext={"runAsUser": 7, "privileged": False})
    assert lines.of([image, tty, confined, manifest("d")]) == (
        "3 pods: ignored on the embedded runtime: image (3), securityContext (1), tty (1); "
        "'probelet status -o json' lists each"
    )


def test_pods_of_which_nothing_else_is_ignored_are_not_named_again() -> None:
    lines = IgnoredSummary("process")
    assert lines.of([manifest("a", image="i")]) is not None
    assert lines.of([manifest("a", image="other"), manifest("b")]) is None
    named = lines.of([manifest("a", image="other", tty=True), manifest("b")])
    assert named is not None
    assert named.startswith("1 pod: ignored on the embedded runtime: image (1), tty (1);")
    assert lines.of([]) is None
    assert lines.of([manifest("a", image="i")]) is not None


def test_the_line_stays_one_line() -> None:
    many = [Ignored(f"spec.field{number:02}", "because") for number in range(LABELS_MAX + 3)]
    line = summary([many, [Ignored("spec.volumes", "x")] * 5], "cri")
    assert line is not None
    assert line.startswith("2 pods: ignored on this runtime: field00 (1), ")
    assert line.endswith(", 4 more; 'probelet status -o json' lists each")
    assert summary([[]], "cri") is None


def test_the_place_of_a_field_is_not_part_of_its_kind() -> None:
    reference = {"volumeName": "v", "path": "p", "key": "K"}
    containers = [
        {"name": name, "command": ["true"], "env": [{"name": "V", "valueFrom": {"fileKeyRef": reference}}]}
        for name in ("a", "b")
    ]
    pod = pod_of({"containers": containers})
    found = ignored_fields(pod, "cri")
    assert [item.field for item in found] == [f"spec.containers[{n}].env[0].valueFrom.fileKeyRef" for n in (0, 1)]
    line = summary([found], "cri")
    assert line is not None
    assert "ignored on this runtime: env.valueFrom.fileKeyRef (1);" in line


def test_a_value_that_only_spells_out_the_default_is_not_named() -> None:
    spec = {
        "dnsPolicy": "Default",
        "hostUsers": True,
        "setHostnameAsFQDN": False,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "volumes": [],
        "securityContext": {},
        "containers": [{"name": "app", "command": ["true"], "tty": False, "resources": {}, "securityContext": {}}],
    }
    assert ignored_fields(pod_of(spec), "process") == []
    assert msgspec.to_builtins(ignored_fields(pod_of(spec | {"hostUsers": False}), "process")) == [
        {
            "field": "spec.hostUsers",
            "reason": "a container is a process of this machine and runs as the user who started probelet",
        }
    ]


def test_on_the_hosts_network_a_port_of_the_host_has_an_effect() -> None:
    ports = [{"containerPort": 80, "hostPort": 80, "hostIP": "127.0.0.1"}]
    spec = {"containers": [{"name": "app", "command": ["true"], "ports": ports}]}
    of_pod = [f"spec.containers[0].ports[0].{name}" for name in ("hostPort", "hostIP")]
    assert [found.field for found in ignored_fields(pod_of(spec), "process")] == of_pod
    assert [found.field for found in ignored_fields(pod_of(spec | {"hostNetwork": True}), "process")] == of_pod[1:]


def test_errors_stand_behind_the_warnings() -> None:
    problems = [Problem("error", "a"), Problem("warning", "b"), Problem("error", "c"), Problem("warning", "d")]
    assert [problem.message for problem in errors_last(problems)] == ["b", "d", "a", "c"]
