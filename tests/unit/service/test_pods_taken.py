"""The service takes every pod that a kubelet's prober would take; a refusal names the field of each mistake."""

from typing import Any

import grpc
import pytest

from tests.unit.service.caller import Caller, exec_probe, make_pod, running


def with_container(**changes: Any) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "app", **changes}]}


PERIOD = "periodSeconds: Invalid value: 0: must be greater than or equal to 1"
NUMBER = make_pod(livenessProbe=exec_probe(timeoutSeconds="soon"))


@pytest.mark.parametrize(
    ("pod", "status", "said"),
    [
        ({"metadata": {}}, running(), ["metadata.uid: Required value"]),
        ({"metadata": 7}, running(), ["metadata: Invalid value: 7: must be a mapping"]),
        ({"metadata": {"uid": "u"}, "spec": 7}, running(), ["spec: "]),
        (NUMBER, running(), ["spec.containers[0].livenessProbe.timeoutSeconds: "]),
        (
            make_pod(livenessProbe={"exec": {}}, startupProbe=exec_probe(periodSeconds=0)),
            running(),
            [f"spec.containers[0].startupProbe.{PERIOD}", f"spec.containers[0].livenessProbe.{PERIOD}"],
        ),
        (
            make_pod(),
            {"phase": "Odd"},
            ['status.phase: Unsupported value: "Odd": supported values: "Failed", "Pending"'],
        ),
        (make_pod(), {"podIP": 7}, ["status.podIP: Invalid value: 7: must be a text"]),
        (make_pod(), {"podIPs": [7]}, ["status.podIPs[0]: Invalid value: 7: must be an object"]),
        (make_pod(), {"containerStatuses": [{}]}, ["status.containerStatuses[0].name: Required value"]),
        (make_pod(), {"containerStatuses": 7}, ["status.containerStatuses: Invalid value: 7: must be a list"]),
        (make_pod(), with_container(ready=1), ["status.containerStatuses[0].ready: Invalid value: 1: must be true or"]),
        (
            make_pod(),
            with_container(state={"running": {"startedAt": "noon"}}),
            ['status.containerStatuses[0].state.running.startedAt: Invalid value: "noon": must be a time'],
        ),
        (
            make_pod(),
            with_container(state={"terminated": {"exitCode": True}}),
            ["status.containerStatuses[0].state.terminated.exitCode: Invalid value: true: must be a number"],
        ),
    ],
)
async def test_a_refusal_names_the_field_of_each_mistake(
    caller: Caller, pod: dict[str, Any], status: dict[str, Any], said: list[str]
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await caller.update_pod_status(pod, status)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    lines = str(refused.value.details()).splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(begin) for line, begin in zip(lines, said, strict=True)), lines


async def test_a_refused_pod_leaves_nothing_behind(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.holdings.PODS_MAX", 1)
    with pytest.raises(grpc.aio.AioRpcError):
        await caller.add_pod(NUMBER)
    with pytest.raises(grpc.aio.AioRpcError):
        await caller.set_pod_status("u", {"phase": "Odd"})
    await caller.add_pod(make_pod("b"))


@pytest.mark.parametrize(
    "pod",
    [
        # An API server refuses these pods; a kubelet's prober does not validate.
        make_pod(livenessProbe=exec_probe(successThreshold=3, failureThreshold=0, timeoutSeconds=0)),
        make_pod(livenessProbe={"periodSeconds": 1}),
        {"metadata": {"uid": "u"}},
        {"metadata": {"uid": "u"}, "spec": {"containers": [{"ports": [{}], "env": [{}]}]}},
        {"metadata": {"uid": "u"}, "spec": None, "status": {"conditions": [{}]}},
        make_pod(livenessProbe={"tcpSocket": {"port": 99999}, "periodSeconds": 1}),
        {"metadata": {"uid": "u"}, "spec": {"containers": [{"name": "A b"}], "unknown": [1]}},
    ],
)
async def test_the_service_does_not_repeat_the_api_servers_validation(caller: Caller, pod: dict[str, Any]) -> None:
    await caller.add_pod(pod)
