"""The API server's messages about probes: exact paths, kinds, details and order."""

from typing import Any

import pytest
from probelet.spec import HTTPGetAction, Probe, validate
from probelet.spec.rules.validate_probe import validate_probe

from tests.unit.spec.pods import pod_of, probed

P = "spec.containers[0].livenessProbe"
EXEC = {"exec": {"command": ["true"]}}
HEADER = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
)
CHARSET = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
LETTER = "must contain at least one letter (a-z)"
RANGE = "must be between 1 and 65535, inclusive"
NEGATIVE = "must be greater than or equal to 0"


def messages(probe: dict[str, Any], probe_type: str = "liveness") -> list[str]:
    return [str(error) for error in validate(probed(probe, probe_type))]


def http(**action: Any) -> dict[str, Any]:
    return {"httpGet": {"port": 80, **action}}


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({}, [f"{P}: Required value: must specify a handler type"]),
        (EXEC | http(), [f"{P}.httpGet: Forbidden: may not specify more than 1 handler type"]),
        ({"exec": {}}, [f"{P}.exec.command: Required value"]),
        (http(scheme="https"), [f'{P}.httpGet.scheme: Unsupported value: "https": supported values: "HTTP", "HTTPS"']),
        (
            http(httpHeaders=[{"name": "Host:"}, {"name": "ok"}, {"name": "X_Y"}]),
            [
                f'{P}.httpGet.httpHeaders: Invalid value: "Host:": {HEADER}',
                f'{P}.httpGet.httpHeaders: Invalid value: "X_Y": {HEADER}',
            ],
        ),
        (http(port=0), [f"{P}.httpGet.port: Invalid value: 0: {RANGE}"]),
        (http(port=65536), [f"{P}.httpGet.port: Invalid value: 65536: {RANGE}"]),
        ({"tcpSocket": {}}, [f"{P}.tcpSocket.port: Invalid value: 0: {RANGE}"]),
        ({"tcpSocket": {"port": -1}}, [f"{P}.tcpSocket.port: Invalid value: -1: {RANGE}"]),
        ({"grpc": {"port": 70000}}, [f"{P}.grpc.port: Invalid value: 70000: {RANGE}"]),
        (http(protocol="HTTP1", scheme="HTTPS", host="a"), []),
        (http(protocol="HTTP2"), []),
        (
            http(protocol="h2c"),
            [f'{P}.httpGet.protocol: Unsupported value: "h2c": supported values: "HTTP1", "HTTP2"'],
        ),
        (http(protocol=""), [f'{P}.httpGet.protocol: Unsupported value: "": supported values: "HTTP1", "HTTP2"']),
        (
            http(protocol="HTTP2", scheme="HTTPS", host="a"),
            [
                f'{P}.httpGet.protocol: Invalid value: "HTTP2": must be HTTP1 unless scheme is HTTP',
                f'{P}.httpGet.protocol: Invalid value: "HTTP2": must be HTTP1 if host is set',
            ],
        ),
        ({"grpc": {"port": 1, "mode": "Plaintext"}}, []),
        ({"grpc": {"port": 1, "mode": "TLS"}}, []),
        (
            {"grpc": {"port": 1, "mode": "tls"}},
            [f'{P}.grpc.mode: Unsupported value: "tls": supported values: "Plaintext", "TLS"'],
        ),
        (http(port="a" * 16), [f'{P}.httpGet.port: Invalid value: "{"a" * 16}": must be no more than 15 bytes']),
        (http(port="Web"), [f'{P}.httpGet.port: Invalid value: "Web": {CHARSET}']),
        (http(port="80"), [f'{P}.httpGet.port: Invalid value: "80": {LETTER}; for the number write 80 without quotes']),
        (http(port="a--b"), [f'{P}.httpGet.port: Invalid value: "a--b": must not contain consecutive hyphens']),
        (http(port="-a"), [f'{P}.httpGet.port: Invalid value: "-a": must not begin or end with a hyphen']),
        (http(port="a-"), [f'{P}.httpGet.port: Invalid value: "a-": must not begin or end with a hyphen']),
        (
            http(port=""),
            [f'{P}.httpGet.port: Invalid value: "": {CHARSET}', f'{P}.httpGet.port: Invalid value: "": {LETTER}'],
        ),
        *(
            (EXEC | {name: -1}, [f"{P}.{name}: Invalid value: -1: {NEGATIVE}"])
            for name in (
                "initialDelaySeconds",
                "timeoutSeconds",
                "periodSeconds",
                "failureThreshold",
                "initializationFailureThreshold",
            )
        ),
        (
            EXEC | {"terminationGracePeriodSeconds": 0},
            [f"{P}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"],
        ),
        (EXEC | {"successThreshold": 2}, [f"{P}.successThreshold: Invalid value: 2: must be 1"]),
    ],
)
def test_each_mistake_has_the_api_servers_words(probe: dict[str, Any], expected: list[str]) -> None:
    assert messages(probe) == expected


def test_an_http_path_emptied_after_defaulting_is_required() -> None:
    # Defaulting fills "", so only an object without defaulting reaches this row.
    probe = Probe(http_get=HTTPGetAction(port=80, scheme="HTTP"), success_threshold=1)
    assert [str(error) for error in validate_probe(probe, "liveness", "P")] == ["P.httpGet.path: Required value"]


def test_only_the_first_handler_is_validated_in_full() -> None:
    probe = {"exec": {}, "httpGet": {"port": 0}, "tcpSocket": {"port": 0}, "grpc": {}}
    assert messages(probe) == [
        f"{P}.exec.command: Required value",
        f"{P}.httpGet: Forbidden: may not specify more than 1 handler type",
        f"{P}.tcpSocket: Forbidden: may not specify more than 1 handler type",
        f"{P}.grpc: Forbidden: may not specify more than 1 handler type",
    ]


NUMBERS = {
    "initialDelaySeconds": -1,
    "timeoutSeconds": -1,
    "periodSeconds": -1,
    "successThreshold": -1,
    "failureThreshold": -1,
    "terminationGracePeriodSeconds": -1,
}


@pytest.mark.parametrize("probe_type", ["liveness", "startup"])
def test_liveness_and_startup_with_every_number_negative(probe_type: str) -> None:
    path = f"spec.containers[0].{probe_type}Probe"
    assert messages(EXEC | NUMBERS, probe_type) == [
        *(f"{path}.{name}: Invalid value: -1: {NEGATIVE}" for name in list(NUMBERS)[:-1]),
        f"{path}.terminationGracePeriodSeconds: Invalid value: -1: must be greater than 0",
        f"{path}.successThreshold: Invalid value: -1: must be 1",
    ]


def test_readiness_with_every_number_negative() -> None:
    path = "spec.containers[0].readinessProbe"
    assert messages(EXEC | NUMBERS, "readiness") == [
        *(f"{path}.{name}: Invalid value: -1: {NEGATIVE}" for name in list(NUMBERS)[:-1]),
        f"{path}.terminationGracePeriodSeconds: Invalid value: -1: must be greater than 0",
        f"{path}.terminationGracePeriodSeconds: Invalid value: -1: must not be set for readinessProbes",
    ]


def test_readiness_may_need_several_successes_but_has_no_grace_period() -> None:
    assert messages(EXEC | {"successThreshold": 3}, "readiness") == []
    assert messages(EXEC | {"terminationGracePeriodSeconds": 7}, "readiness") == [
        "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 7: "
        "must not be set for readinessProbes"
    ]


@pytest.mark.parametrize(
    "probe",
    [
        EXEC,
        *(EXEC | {name: 10} for name in NUMBERS if name != "successThreshold"),
        *(EXEC | {name: 0} for name in NUMBERS if name != "terminationGracePeriodSeconds"),
        {"httpGet": {"path": "/", "port": 1}},
        {"httpGet": {"path": "/foo", "port": 65535, "host": "host"}},
        {"httpGet": {"port": "port"}},
        http(httpHeaders=[{"name": "Host", "value": "foo.example.com"}]),
        http(httpHeaders=[{"name": "X-Forwarded-For", "value": "1"}, {"name": "X-Forwarded-For", "value": "2"}]),
        {"grpc": {"port": 1}},
        {"tcpSocket": {"port": "nowhere"}},
    ],
)
def test_valid_probes_pass(probe: dict[str, Any]) -> None:
    assert messages(probe) == []


def test_the_order_inside_a_container_is_lifecycle_liveness_readiness_startup() -> None:
    pod = pod_of(
        {
            "containers": [
                {
                    "name": "app",
                    "startupProbe": {},
                    "readinessProbe": {},
                    "livenessProbe": {},
                    "lifecycle": {"preStop": {"sleep": {"seconds": 31}}, "postStart": {}},
                }
            ]
        }
    )
    c = "spec.containers[0]"
    assert [str(error) for error in validate(pod)] == [
        f"{c}.lifecycle.postStart: Required value: must specify a handler type",
        f"{c}.lifecycle.preStop.sleep: Invalid value: 31: "
        "must be non-negative and less than terminationGracePeriodSeconds (30)",
        f"{c}.livenessProbe: Required value: must specify a handler type",
        f"{c}.readinessProbe: Required value: must specify a handler type",
        f"{c}.startupProbe: Required value: must specify a handler type",
    ]


@pytest.mark.parametrize("policy", [None, "Never", "OnFailure"])
def test_a_plain_init_container_has_neither_probes_nor_hooks(policy: str | None) -> None:
    init = {"name": "init", "restartPolicy": policy, "lifecycle": {}}
    init |= {f"{probe_type}Probe": EXEC for probe_type in ("startup", "readiness", "liveness")}
    pod = pod_of({"containers": [{"name": "app"}], "initContainers": [init]})
    assert [str(error) for error in validate(pod)] == [
        f"spec.initContainers[0].{name}: Forbidden: may not be set for init containers without restartPolicy=Always"
        for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
    ]


def test_a_sidecar_has_probes_under_the_same_rules() -> None:
    sidecar = {
        "name": "proxy",
        "restartPolicy": "Always",
        "livenessProbe": EXEC | {"successThreshold": 2},
        "readinessProbe": EXEC | {"terminationGracePeriodSeconds": 10},
        "startupProbe": EXEC,
    }
    pod = pod_of({"containers": [{"name": "app"}], "initContainers": [sidecar]})
    assert [str(error) for error in validate(pod)] == [
        "spec.initContainers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        "spec.initContainers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 10: "
        "must not be set for readinessProbes",
    ]


def test_an_ephemeral_container_has_no_probes() -> None:
    debug = {"name": "debug", "lifecycle": {}, "targetContainerName": "nobody"}
    debug |= {f"{probe_type}Probe": EXEC for probe_type in ("startup", "readiness", "liveness")}
    pod = pod_of({"containers": [{"name": "app"}], "ephemeralContainers": [debug]})
    assert [str(error) for error in validate(pod)] == [
        'spec.ephemeralContainers[0].targetContainerName: Not found: "nobody"',
        *(
            f"spec.ephemeralContainers[0].{name}: Forbidden: cannot be set for an Ephemeral Container"
            for name in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
        ),
    ]
