"""Pod Security's rule about hosts in probes and hooks, which a node may enforce."""

from pathlib import Path
from typing import Any

import pytest
from probelet.spec.read.load import read_file
from probelet.spec.read.objects import Rules
from probelet.spec.rules.host_rule import denied_hosts

from tests.unit.spec.pods import pod_of, probed

HOST = "10.0.0.1"


def denied(container: str, host: str = HOST) -> str:
    return (
        'Forbidden: violates PodSecurity "baseline:v1.34": probe or lifecycle host '
        f'(container "{container}" uses probe or lifecycle host "{host}")'
    )


@pytest.mark.parametrize("probe_type", ["liveness", "readiness", "startup"])
@pytest.mark.parametrize("handler", ["httpGet", "tcpSocket"])
def test_a_probe_with_a_host(probe_type: str, handler: str) -> None:
    pod = probed({handler: {"port": 80, "host": HOST}}, probe_type)
    assert [str(error) for error in denied_hosts(pod)] == [
        f"spec.containers[0].{probe_type}Probe.{handler}.host: {denied('app')}"
    ]


@pytest.mark.parametrize("hook", ["postStart", "preStop"])
@pytest.mark.parametrize("handler", ["httpGet", "tcpSocket"])
def test_a_hook_with_a_host(hook: str, handler: str) -> None:
    pod = pod_of({"containers": [{"name": "app", "lifecycle": {hook: {handler: {"port": 80, "host": HOST}}}}]})
    assert [str(error) for error in denied_hosts(pod)] == [
        f"spec.containers[0].lifecycle.{hook}.{handler}.host: {denied('app')}"
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "example.com"])
def test_every_host_is_refused_even_the_loopback(host: str) -> None:
    assert [error.body for error in denied_hosts(probed({"tcpSocket": {"port": 80, "host": host}}))] == [
        denied("app", host)
    ]


@pytest.mark.parametrize(
    "probe",
    [
        {"httpGet": {"port": 80}},
        {"httpGet": {"port": 80, "host": ""}},
        {"httpGet": {"port": 80, "httpHeaders": [{"name": "Host", "value": "example.com"}]}},
        {"tcpSocket": {"port": 80}},
        {"grpc": {"port": 80}},
        {"exec": {"command": ["true"]}},
    ],
)
def test_probes_without_a_host_pass(probe: dict[str, Any]) -> None:
    assert denied_hosts(probed(probe)) == []


def test_containers_of_every_kind_and_each_of_their_hosts() -> None:
    http, tcp = ({name: {"port": 1, "host": host}} for name, host in (("httpGet", "a"), ("tcpSocket", "b")))
    pod = pod_of(
        {
            "containers": [{"name": "app", "livenessProbe": http | tcp, "lifecycle": {"preStop": http}}],
            "initContainers": [{"name": "init", "startupProbe": tcp}],
            "ephemeralContainers": [{"name": "debug", "readinessProbe": http}],
        }
    )
    assert [(error.path, error.body) for error in denied_hosts(pod)] == [
        ("spec.containers[0].livenessProbe.httpGet.host", denied("app", "a")),
        ("spec.containers[0].livenessProbe.tcpSocket.host", denied("app", "b")),
        ("spec.containers[0].lifecycle.preStop.httpGet.host", denied("app", "a")),
        ("spec.initContainers[0].startupProbe.tcpSocket.host", denied("init", "b")),
        ("spec.ephemeralContainers[0].readinessProbe.httpGet.host", denied("debug", "a")),
    ]


def test_a_manifest_is_refused_at_the_line_of_the_host_and_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - name: app\n"
        f"    readinessProbe:\n      tcpSocket:\n        port: 80\n        host: {HOST}\n"
    )
    assert read_file(path).problems == []
    refused = read_file(path, Rules(deny_hosts=True))
    assert refused.pods == []
    assert [str(problem) for problem in refused.problems] == [
        f"{path}:10: spec.containers[0].readinessProbe.tcpSocket.host: {denied('app')}"
    ]
