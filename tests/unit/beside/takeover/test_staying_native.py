"""What stays native: each case of the design, with its reason in the annotation and in a warning."""

from typing import Any

import pytest
from probelet.beside.takeover import MANAGED_LABEL, patch
from probelet.beside.takeover.codec import ANNOTATION_BYTES_MAX
from probelet.beside.takeover.patch import WARNING_BYTES_MAX

from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    STARTUP,
    Json,
    called,
    container,
    has_gate,
    made,
    moved,
    native,
    pod,
    reason,
)

WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS)
HOSTED = {**LIVENESS, "httpGet": {"path": "/", "port": 80, "host": "10.0.0.1", "scheme": "HTTP"}}


def untouched(before: Json, wanted: str, namespace: str = "default") -> None:
    """All probes of the pod stay, and the pod and a warning say why."""
    after, answer = called(before, namespace)
    assert native(after) == native(before)
    assert (moved(after), has_gate(after), answer.result) == ({}, False, "native")
    said = reason(after)
    assert said is not None
    assert wanted in said
    assert answer.warnings[0].startswith("probelet: probes stay native: ")
    assert all(len(warning.encode()) <= WARNING_BYTES_MAX for warning in answer.warnings)


def test_mirror_pods() -> None:
    untouched(pod(WEB, annotations={"kubernetes.io/config.mirror": "8a7f"}), "it is a mirror pod")


def test_pods_for_windows() -> None:
    untouched(pod(WEB, os={"name": "windows"}), "it is for Windows")
    untouched(pod(WEB, nodeSelector={"kubernetes.io/os": "windows"}), "it is for Windows")
    assert called(pod(WEB, os={"name": "linux"}))[1].result == "taken-over"


def test_probelets_own_namespace() -> None:
    untouched(pod(WEB), "namespace probelet-system is probelet's own", "probelet-system")


@pytest.mark.parametrize("kind", ["liveness", "readiness"])
def test_one_host_keeps_all_probes_of_the_pod(kind: str) -> None:
    before = pod(WEB, container("other", **{f"{kind}Probe": HOSTED}))
    untouched(before, f'spec.containers[1].{kind}Probe.httpGet.host is "10.0.0.1"')


def test_the_host_of_a_tcp_probe_counts_and_an_empty_one_does_not() -> None:
    tcp = {"tcpSocket": {"port": 80, "host": "localhost"}}
    untouched(pod(container(livenessProbe=tcp)), "livenessProbe.tcpSocket.host")
    assert called(pod(container(livenessProbe={"tcpSocket": {"port": 80, "host": ""}})))[1].result == "taken-over"


def test_a_header_named_host_is_no_host() -> None:
    action = {"path": "/", "port": 80, "scheme": "HTTP", "httpHeaders": [{"name": "Host", "value": "shop.example"}]}
    assert called(pod(container(livenessProbe={**LIVENESS, "httpGet": action})))[1].result == "taken-over"


def test_the_startup_probe_stays_whatever_it_is_and_keeps_no_other_probe() -> None:
    for startup in (HOSTED, {**LIVENESS, "futureField": 1}, {}, {**LIVENESS, "periodSeconds": -1}):
        before = pod(container(livenessProbe=LIVENESS, readinessProbe=READINESS, startupProbe=startup))
        after, answer = called(before)
        assert (native(after), made(after), answer.result) == (["app/startup"], {}, "taken-over")
        assert after["spec"]["containers"][0]["startupProbe"] == startup


@pytest.mark.parametrize(
    ("probe", "field"),
    [
        ({**LIVENESS, "maxSeconds": 5}, "livenessProbe.maxSeconds"),
        ({**LIVENESS, "maxSeconds": None}, "livenessProbe.maxSeconds"),
        ({"httpGet": {"port": 80, "alpn": ["h3"]}}, "livenessProbe.httpGet.alpn"),
        (
            {"httpGet": {"port": 80, "httpHeaders": [{"name": "a", "valueFrom": {}}]}},
            "livenessProbe.httpGet.httpHeaders[0].valueFrom",
        ),
        ({"grpc": {"port": 80, "authority": "x"}}, "livenessProbe.grpc.authority"),
        ({"udpSocket": {"port": 53}}, "livenessProbe.udpSocket"),
    ],
)
def test_a_field_of_a_later_release_keeps_the_probes_of_its_container(probe: Json, field: str) -> None:
    before = pod(container(livenessProbe=probe, startupProbe=STARTUP), container("other", readinessProbe=READINESS))
    after, _ = called(before)
    assert after["spec"]["containers"][0] == before["spec"]["containers"][0]
    assert (list(moved(after)), native(after)) == (["other"], ["app/liveness", "app/startup"])
    assert f'container "app": {field} is a field that this release' in (reason(after) or "")


@pytest.mark.parametrize(
    ("spec", "fields", "setting"),
    [
        ({"restartPolicy": "OnFailure"}, {}, "restartPolicy OnFailure"),
        ({"restartPolicy": "Never"}, {}, "restartPolicy Never"),
        ({}, {"restartPolicy": "OnFailure"}, "restartPolicy OnFailure"),
        ({}, {"restartPolicy": "Always", "restartPolicyRules": [{"action": "Restart"}]}, "restartPolicyRules"),
    ],
)
def test_a_restart_that_depends_on_the_exit_code_keeps_all_probes(spec: Json, fields: Json, setting: str) -> None:
    probed = container(**fields, livenessProbe=LIVENESS)
    before = pod(probed, container("other", readinessProbe=READINESS), **spec)
    untouched(before, f'container "app" has {setting}')


def test_readiness_moves_whatever_the_restart_policy() -> None:
    for own in ({}, {"startupProbe": STARTUP}):
        before = pod(container(readinessProbe=READINESS, **own), restartPolicy="Never")
        assert called(before)[1].result == "taken-over"


def test_the_containers_own_policy_counts_before_the_pods() -> None:
    before = pod(container(restartPolicy="Always", livenessProbe=LIVENESS), restartPolicy="Never")
    assert called(before)[1].result == "taken-over"
    # A pod without a policy has the default, and so has a rule of a container without such probes no effect.
    plain = container("batch", restartPolicyRules=[{"action": "RestartAllContainers"}], restartPolicy="Never")
    assert called(pod(WEB, plain, restartPolicy=None))[1].result == "taken-over"


@pytest.mark.parametrize(
    ("kind", "probe", "words"),
    [
        ("liveness", {**LIVENESS, "periodSeconds": -1}, "periodSeconds: Invalid value: -1: must be greater than or"),
        ("liveness", {**LIVENESS, "successThreshold": 2}, "successThreshold: Invalid value: 2: must be 1"),
        (
            "readiness",
            {"exec": {"command": ["true"]}, "tcpSocket": {"port": 1}},
            "readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
        ),
        ("readiness", {"tcpSocket": {"port": 0}}, "readinessProbe.tcpSocket.port: Invalid value: 0: must be between 1"),
        ("readiness", {**READINESS, "terminationGracePeriodSeconds": 3}, "must not be set for readinessProbes"),
        ("liveness", {"httpGet": {"port": 80, "scheme": "FTP"}}, 'scheme: Unsupported value: "FTP": supported values:'),
        ("liveness", {"tcpSocket": {"port": 80}, "periodSeconds": "1"}, "livenessProbe: "),
    ],
)
def test_what_the_api_server_would_refuse_stays_for_it_to_refuse(kind: str, probe: Any, words: str) -> None:
    untouched(pod(container(**{f"{kind}Probe": probe}), container("b", readinessProbe=READINESS)), words)


def test_probes_of_containers_without_a_name_of_their_own_stay() -> None:
    untouched(pod(container("", livenessProbe=LIVENESS)), "spec.containers[0].name: Required value")
    untouched(pod(WEB, container("app")), 'spec.containers[0].name: Duplicate value: "app"')
    untouched(pod(WEB, init=(container("app"),)), 'spec.containers[0].name: Duplicate value: "app"')


def test_probes_stay_where_annotations_would_grow_beyond_the_api_servers_limit() -> None:
    command = {"exec": {"command": ["true", "x" * 1000]}}
    # The pod's other annotations fit by themselves; with the probes they would not.
    rest = "y" * (ANNOTATION_BYTES_MAX - 1000)
    after, answer = called(pod(container(livenessProbe=command), annotations={"other": rest}))
    assert (native(after), answer.result) == (["app/liveness"], "native")
    assert "more than the 262144 allowed" in answer.warnings[0]


def test_a_pod_without_the_label_gets_no_reason() -> None:
    before = pod(container(livenessProbe=HOSTED))
    del before["metadata"]["labels"][MANAGED_LABEL]
    assert called(before)[0] == before


def test_a_warning_is_one_printable_line() -> None:
    before = pod(container("a\nb\x1b" + "n" * 300, livenessProbe=HOSTED, restartPolicy="Never"))
    before["spec"]["containers"][0]["livenessProbe"]["httpGet"]["host"] = "h\r\n" * 200
    _, answer = called(before)
    assert all(warning.isprintable() and len(warning.encode()) <= WARNING_BYTES_MAX for warning in answer.warnings)


@pytest.mark.parametrize(("more", "end"), [(0, "depend on it"), (1, "...")])
def test_a_warning_of_more_bytes_than_the_api_server_shows_is_cut(more: int, end: str) -> None:
    (short,) = patch(pod(WEB), namespace="", own_namespace="").warnings
    namespace = "n" * (256 - len(short) + more)
    (warning,) = patch(pod(WEB), namespace=namespace, own_namespace=namespace).warnings
    assert len(warning) == 256
    assert warning.endswith(end)
