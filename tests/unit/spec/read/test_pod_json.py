"""Pods as JSON: from a node agent, and to the engine."""

import msgspec
import pytest
from probelet.spec import SpecError, decode_pod, encode_pod, set_defaults

from tests.unit.spec.pods import pod_of, probed


def test_kubernetes_spelling_survives_the_round_trip() -> None:
    data = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "ownerReferences": [{"kind": "ReplicaSet", "uid": "u", "controller": True}]},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "ports": [{"containerPort": 80, "hostIP": "1.2.3.4"}],
                    "resources": {"limits": {"cpu": "1"}},
                    "livenessProbe": {"httpGet": {"port": "http", "httpHeaders": [{"name": "A", "value": ""}]}},
                    "startupProbe": {"tcpSocket": {"port": 0}, "initializationFailureThreshold": 3},
                }
            ],
            "hostPID": True,
            "setHostnameAsFQDN": False,
        },
        "status": {
            "podIP": "10.0.0.1",
            "podIPs": [{"ip": "10.0.0.1"}],
            "hostIP": "h",
            "containerStatuses": [
                {"name": "c", "state": {"running": {"startedAt": "t"}}, "containerID": "x://1", "imageID": "i"}
            ],
        },
    }
    assert msgspec.json.decode(encode_pod(decode_pod(msgspec.json.encode(data)))) == data


def test_empty_fields_are_left_out_and_defaults_are_not() -> None:
    pod = pod_of({"containers": [{"name": "a", "command": [], "env": [], "args": None}]})
    assert msgspec.json.decode(encode_pod(pod)) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "containers": [
                {
                    "name": "a",
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                }
            ],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
        },
    }


def test_a_defaulted_grpc_service_is_written_even_though_it_is_empty() -> None:
    probe = msgspec.json.decode(encode_pod(probed({"grpc": {"port": 5}})))["spec"]["containers"][0]["livenessProbe"]
    assert probe["grpc"] == {"port": 5, "service": ""}


def test_null_is_unset_and_unknown_fields_are_ignored_as_in_go() -> None:
    data = b'{"metadata":{"name":"a","labels":null,"creationTimestamp":null},"spec":{"containers":[null],"new":1}}'
    pod = decode_pod(data)
    assert pod.metadata.labels == {}
    assert len(pod.spec.containers) == 1


def test_every_field_of_a_wrong_type_is_named() -> None:
    data = b'{"spec":{"containers":[{"name":1,"livenessProbe":{"periodSeconds":"1"}}],"hostNetwork":"no"}}'
    with pytest.raises(SpecError) as caught:
        decode_pod(data)
    assert [str(problem).partition(" Invalid")[0] for problem in caught.value.problems] == [
        "spec.containers[0].name:",
        "spec.containers[0].livenessProbe.periodSeconds:",
        "spec.hostNetwork:",
    ]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"kind":"\xff"}', b"[]", b"5", b"null", b'{"spec":5}'])
def test_json_that_is_no_pod_is_refused(data: bytes) -> None:
    with pytest.raises(SpecError) as caught:
        decode_pod(data)
    assert caught.value.problems


@pytest.mark.parametrize("opening", [b'{"new":', b'{"spec":{"volumes":', b'{"spec":5,"new":'])
def test_deep_nesting_is_refused(opening: bytes) -> None:
    with pytest.raises(SpecError, match="nested deeper than 100 levels"):
        decode_pod(opening + b"[" * 1_000_000)


def test_numbers_beyond_32_bits_are_refused() -> None:
    with pytest.raises(SpecError, match="must be between -2147483648 and 2147483647, inclusive"):
        decode_pod(b'{"spec":{"containers":[{"livenessProbe":{"tcpSocket":{"port":2147483648}}}]}}')


def test_a_pod_decoded_again_is_the_same_pod() -> None:
    pod = set_defaults(probed({"exec": {"command": ["a", "b"]}}, env=[{"name": "A", "value": "b"}]))
    assert decode_pod(encode_pod(pod)) == pod
