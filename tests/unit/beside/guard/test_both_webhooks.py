"""A pod that asks for both: its liveness probe belongs to enhanced liveness, in whichever order the webhooks come."""

import json
from typing import Any

import pytest
from probelet.beside.guard.mutation import Options, mutate
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.takeover import MANAGED_LABEL, PROBES_ANNOTATION, patch

from tests.support.kube_api.patching import apply_json_patch
from tests.unit.beside.guard.test_mutation import patched

PROBE = {
    "exec": {"command": ["x"]},
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}


def pod() -> dict[str, Any]:
    container = {"name": "app", "image": "x", "livenessProbe": PROBE, "readinessProbe": PROBE, "startupProbe": PROBE}
    meta = {"name": "web", "labels": {MANAGED_LABEL: "true"}, "annotations": {OPT_IN: "true"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def by_takeover(obj: dict[str, Any]) -> dict[str, Any]:
    change = patch(obj, namespace="default", own_namespace="probelet-system")
    return _applied(obj, change.operations)


def by_enhanced_liveness(obj: dict[str, Any]) -> dict[str, Any]:
    return patched(obj, mutate(obj, Options()))


def _applied(obj: dict[str, Any], operations: Any) -> dict[str, Any]:
    return apply_json_patch(json.loads(json.dumps(obj)), list(operations))


@pytest.mark.parametrize(
    "order",
    [
        (by_takeover, by_enhanced_liveness),
        (by_enhanced_liveness, by_takeover),
        (by_takeover, by_enhanced_liveness, by_takeover, by_enhanced_liveness),
        (by_enhanced_liveness, by_takeover, by_enhanced_liveness, by_takeover),
    ],
)
def test_liveness_goes_to_enhanced_liveness_and_the_others_to_the_agent(order: Any) -> None:
    obj = pod()
    for webhook in order:
        obj = webhook(obj)
    annotations, [container] = obj["metadata"]["annotations"], obj["spec"]["containers"]
    assert [entry["name"] for entry in json.loads(annotations[CONTEXT])] == ["app"]
    moved = set(json.loads(annotations[PROBES_ANNOTATION])["app"])
    native = {each for each in container if each.endswith("Probe")}
    # A startup probe stays with the kubelet while a native liveness probe needs it, and moves when called again.
    assert moved | native == {"readinessProbe", "startupProbe"}
    assert not moved & native
    assert native <= {"startupProbe"}
