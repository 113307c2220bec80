"""The API server's defaults."""

import msgspec
import pytest
from probelet.spec import Pod, decode_pod, encode_pod, set_defaults

from tests.unit.spec.pods import pod_of, probed


@pytest.mark.parametrize(
    "probe",
    [
        {},
        {"timeoutSeconds": 0, "periodSeconds": 0, "successThreshold": 0, "failureThreshold": 0},
    ],
)
def test_a_number_that_is_absent_or_zero_becomes_the_default(probe: dict[str, int]) -> None:
    found = probed({"exec": {"command": ["true"]}, **probe}).spec.containers[0].liveness_probe
    assert found is not None
    assert (found.initial_delay_seconds, found.timeout_seconds, found.period_seconds) == (0, 1, 10)
    assert (found.success_threshold, found.failure_threshold) == (1, 3)
    assert found.termination_grace_period_seconds is None
    assert found.initialization_failure_threshold == 0


def test_numbers_that_are_set_stay_even_when_invalid() -> None:
    found = probed({"timeoutSeconds": -4, "periodSeconds": 7}).spec.containers[0].liveness_probe
    assert found is not None
    assert (found.timeout_seconds, found.period_seconds) == (-4, 7)


def test_handlers_get_path_scheme_and_service() -> None:
    http = probed({"httpGet": {"port": 80}}).spec.containers[0].liveness_probe
    grpc = probed({"grpc": {"port": 80}}).spec.containers[0].liveness_probe
    assert http is not None
    assert http.http_get is not None
    assert grpc is not None
    assert grpc.grpc is not None
    assert (http.http_get.path, http.http_get.scheme, http.http_get.host) == ("/", "HTTP", "")
    assert grpc.grpc.service == ""


def test_every_kind_of_container_is_defaulted() -> None:
    probe = {"readinessProbe": {"httpGet": {"port": 80}}, "ports": [{"containerPort": 1}]}
    hook = {"lifecycle": {"preStop": {"httpGet": {"port": 80}}}}
    pod = pod_of(
        {
            "containers": [{"name": "a", **probe, **hook}],
            "initContainers": [{"name": "b", **probe}],
            "ephemeralContainers": [{"name": "c", **probe}],
        }
    )
    for _, container in pod.spec.each_container():
        assert container.readiness_probe is not None
        assert container.readiness_probe.period_seconds == 10
        assert container.ports[0].protocol == "TCP"
    lifecycle = pod.spec.containers[0].lifecycle
    assert lifecycle is not None
    assert lifecycle.pre_stop is not None
    assert lifecycle.pre_stop.http_get is not None
    assert lifecycle.pre_stop.http_get.scheme == "HTTP"


def test_pod_defaults() -> None:
    pod = set_defaults(Pod())
    assert (pod.api_version, pod.kind, pod.metadata.namespace) == ("v1", "Pod", "default")
    assert (pod.spec.restart_policy, pod.spec.termination_grace_period_seconds) == ("Always", 30)
    assert pod_of({"terminationGracePeriodSeconds": 0}).spec.termination_grace_period_seconds == 0


def test_defaulting_twice_changes_nothing_and_the_input_stays() -> None:
    data = {"spec": {"containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 1}}}]}}
    pod = decode_pod(msgspec.json.encode(data))
    once = set_defaults(pod)
    assert set_defaults(once) == once
    assert msgspec.json.decode(encode_pod(pod)) == data
