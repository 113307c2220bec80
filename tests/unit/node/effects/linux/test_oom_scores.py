"""OOM scores: the rows of the kubelet's pkg/kubelet/qos/policy_test.go and qos_test.go that a static pod can have."""

from typing import Any

import pytest
from probelet.node.effects.linux.oom_score import oom_score_adj, qos_class

from tests.unit.node.effects.linux.pods import pod_of

GIB = 2**30
BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"limits": {"cpu": "0", "memory": "0"}}, "BestEffort"),
        ({"limits": {"ephemeral-storage": "1Gi"}}, "BestEffort"),
        ({"limits": BOTH}, "Guaranteed"),
        ({"limits": BOTH, "requests": {"cpu": "1000m", "memory": "1024Mi"}}, "Guaranteed"),
        ({"limits": BOTH, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"requests": BOTH}, "Burstable"),
    ],
)
def test_qos_classes(resources: dict[str, Any], expected: str) -> None:
    assert qos_class(pod_of({"resources": resources})) == expected


def test_one_container_without_limits_makes_a_pod_burstable() -> None:
    assert qos_class(pod_of({"resources": {"limits": BOTH}}, initContainers=[{"name": "setup"}])) == "Burstable"


@pytest.mark.parametrize(
    ("container", "spec", "expected"),
    [
        ({}, {}, 1000),
        ({"resources": {"limits": BOTH}}, {}, -997),
        ({"resources": {"limits": {"cpu": "1"}}}, {}, 999),
        ({"resources": {"requests": {"memory": "1Gi"}}}, {}, 875),
        ({"resources": {"requests": {"memory": "8Gi"}}}, {}, 3),
        ({"resources": {"requests": {"memory": "1e999"}}}, {}, 3),
        ({"resources": {"limits": {"memory": "1Gi"}}}, {}, 875),
        ({}, {"priorityClassName": "system-node-critical"}, -997),
        ({}, {"priorityClassName": "system-cluster-critical"}, 1000),
    ],
)
def test_scores_on_a_machine_of_eight_gibibytes(container: dict[str, Any], spec: dict[str, Any], expected: int) -> None:
    pod = pod_of(container, **spec)
    assert oom_score_adj(pod, pod.spec.containers[0], 8 * GIB) == expected


def test_a_sidecar_goes_no_sooner_than_the_containers_it_serves() -> None:
    side = {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"memory": "1Gi"}}}
    pod = pod_of({"resources": {"requests": {"memory": "4Gi"}}}, initContainers=[side, {**side, "name": "other"}])
    assert oom_score_adj(pod, pod.spec.init_containers[0], 8 * GIB) == 500
    plain = pod_of({"resources": {"requests": {"memory": "4Gi"}}}, initContainers=[{**side, "restartPolicy": None}])
    assert oom_score_adj(plain, plain.spec.init_containers[0], 8 * GIB) == 875


def test_a_machine_whose_memory_is_unknown_prefers_best_effort_all_the_same() -> None:
    pod = pod_of({"resources": {"requests": {"memory": "1Gi"}}})
    assert oom_score_adj(pod, pod.spec.containers[0], 0) == 999
