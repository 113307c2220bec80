"""Fields of a switched-off gate are dropped, unless the running pod already has them (KEP-2238's ratchet)."""

from typing import Any

import pytest
from probelet.spec import Pod, drop_disabled_fields, encode_pod

from tests.unit.spec.pods import pod_of

ON = {
    "ProbeTerminationGracePeriod": True,
    "H2CContainerProbe": True,
    "GRPCContainerProbeTLS": True,
    "ContainerRestartRules": True,
    "RestartAllContainersOnContainerExits": True,
}
OFF = dict.fromkeys(ON, False)
GRACE = {"exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 5}


def pod(kind: str = "containers", **probes: Any) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "app"}]}
    spec[kind] = [{"name": "probed", **probes}]
    return pod_of(spec)


WITHOUT = pod(livenessProbe={"exec": {"command": ["true"]}})
WITH = pod(livenessProbe=GRACE)


@pytest.mark.parametrize(
    ("gates", "old", "new", "kept"),
    [
        (OFF, None, WITH, False),
        (OFF, WITHOUT, WITH, False),
        (OFF, WITH, WITH, True),
        (OFF, None, WITHOUT, False),
        (OFF, WITHOUT, WITHOUT, False),
        (OFF, WITH, WITHOUT, False),
        (ON, None, WITH, True),
        (ON, WITHOUT, WITH, True),
        (ON, WITH, WITH, True),
        (ON, None, WITHOUT, False),
    ],
)
def test_the_ratchet_table(gates: dict[str, bool], old: Pod | None, new: Pod, kept: bool) -> None:
    before = [encode_pod(pod) for pod in (old, new) if pod is not None]
    result = drop_disabled_fields(new, old, gates)
    assert result == (WITH if kept else WITHOUT)
    assert [encode_pod(pod) for pod in (old, new) if pod is not None] == before


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize("probe", ["livenessProbe", "startupProbe"])
def test_every_container_kind_is_covered(kind: str, probe: str) -> None:
    [(_, found)] = drop_disabled_fields(pod(kind, **{probe: GRACE}), None, OFF).spec.each_probe()
    assert found.termination_grace_period_seconds is None


def test_an_old_pod_that_uses_the_field_anywhere_keeps_it_everywhere() -> None:
    old = pod("initContainers", startupProbe=GRACE)
    new = pod(livenessProbe=GRACE)
    assert drop_disabled_fields(new, old, OFF) == new


def test_readiness_is_left_to_validation_and_does_not_count_as_use() -> None:
    readiness = pod(readinessProbe=GRACE)
    assert drop_disabled_fields(readiness, None, OFF) == readiness
    assert drop_disabled_fields(WITH, readiness, OFF) == WITHOUT


def test_protocol_and_mode_go_with_their_gates() -> None:
    new = pod(
        livenessProbe={"httpGet": {"port": 80, "protocol": "HTTP2"}},
        readinessProbe={"grpc": {"port": 5, "mode": "TLS"}},
    )
    bare = pod(livenessProbe={"httpGet": {"port": 80}}, readinessProbe={"grpc": {"port": 5}})
    assert drop_disabled_fields(new, None, OFF) == bare
    assert drop_disabled_fields(new, new, OFF) == new
    assert drop_disabled_fields(new, None, ON) == new


def ruled(action: str, policy: str = "Never") -> dict[str, Any]:
    rule = {"action": action, "exitCodes": {"operator": "In", "values": [88]}}
    return {"name": "app", "restartPolicy": policy, "restartPolicyRules": [rule]}


def test_containers_policies_and_rules_go_with_their_gate_but_a_sidecar_stays_one() -> None:
    new = pod_of({"containers": [ruled("Restart", "Always")], "initContainers": [ruled("Restart", "Always")]})
    bare = pod_of({"containers": [{"name": "app"}], "initContainers": [{"name": "app", "restartPolicy": "Always"}]})
    assert drop_disabled_fields(new, None, OFF) == bare
    assert drop_disabled_fields(bare, None, OFF) == bare
    assert drop_disabled_fields(new, new, OFF) == new
    assert drop_disabled_fields(new, None, ON) == new


def test_rules_that_restart_all_go_with_theirs() -> None:
    gates = ON | {"RestartAllContainersOnContainerExits": False}
    new = pod_of({"containers": [ruled("RestartAllContainers")]})
    bare = pod_of({"containers": [{"name": "app", "restartPolicy": "Never"}]})
    assert drop_disabled_fields(new, None, gates) == bare
    assert drop_disabled_fields(pod_of({"containers": [ruled("Restart")]}), None, gates).spec.containers != (
        bare.spec.containers
    )
