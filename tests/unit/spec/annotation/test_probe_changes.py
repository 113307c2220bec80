"""Pods whose probes may change: what the annotation says, and what becomes of the UID."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet.spec.annotation.probe_changes import changed_probes, told
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import Loaded, read_pods
from probelet.spec.read.objects import Rules


def loaded(probes: dict[str, Any], *, value: str | None = "live", allowed: bool = True, image: str = "i") -> Loaded:
    annotations = {} if value is None else {"probelet.dev/probe-changes": value}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "annotations": annotations},
        "spec": {"containers": [{"name": "app", "image": image, **probes}]},
    }
    return read_pods(Path("web.yaml"), msgspec.json.encode(pod).decode(), Rules(probe_changes=allowed))


def pod_of(found: Loaded) -> Pod:
    assert not found.errors
    return found.pods[0].pod


READY: dict[str, Any] = {"readinessProbe": {"tcpSocket": {"port": 1}}}
LATER: dict[str, Any] = {"readinessProbe": {"tcpSocket": {"port": 1}, "periodSeconds": 3}}


def uid(found: Loaded) -> str:
    return pod_of(found).metadata.uid


def test_another_probe_leaves_the_uid_and_everything_else_changes_it() -> None:
    assert uid(loaded(READY)) == uid(loaded(LATER)) == uid(loaded({}))
    assert loaded(READY).pods[0].digest != loaded(LATER).pods[0].digest
    assert uid(loaded(READY)) != uid(loaded(READY, image="j"))
    assert uid(loaded(READY)) != uid(loaded(READY, value=None)), "to ask for it makes another pod, once"


@pytest.mark.parametrize(("value", "allowed"), [(None, True), ("live", False)])
def test_elsewhere_another_probe_makes_another_pod(value: str | None, allowed: bool) -> None:
    first, second = (loaded(probes, value=value, allowed=allowed) for probes in (READY, LATER))
    assert uid(first) != uid(second)
    assert not first.pods[0].is_live


def test_a_node_that_does_not_allow_it_warns() -> None:
    (problem,) = loaded(READY, allowed=False).problems
    assert "no effect: this node does not allow probes to change (probeChanges)" in str(problem)
    assert problem.severity == "warning"


def test_another_value_is_a_mistake_with_its_path() -> None:
    (problem,) = loaded(READY, value="yes").errors
    assert problem.field == "metadata.annotations[probelet.dev/probe-changes]"
    assert 'Unsupported value: "yes": supported values: "live"' in str(problem)


def test_a_change_is_told_by_its_fields() -> None:
    live: dict[str, Any] = {"livenessProbe": {"tcpSocket": {"port": 1}}}
    said = changed_probes(pod_of(loaded(READY | live)), pod_of(loaded(LATER | {"startupProbe": live["livenessProbe"]})))
    assert told(said) == (
        "readinessProbe of container app changed (periodSeconds), startupProbe of container app added, "
        "livenessProbe of container app removed; what was counted stays"
    )
    assert not changed_probes(pod_of(loaded(READY)), pod_of(loaded(READY)))
