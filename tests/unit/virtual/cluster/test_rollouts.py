"""Rollouts: what the controllers of Kubernetes promise holds at every moment."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.testing import ManifestError
from probelet.virtual.cluster import Behaviour, Evict, PodRecord, VirtualCluster

from tests.unit.virtual.cluster.manifests import budget, service, workload

PERCENTAGES = st.integers(0, 100).map(lambda number: f"{number}%")
SHARES = st.one_of(st.integers(0, 5), PERCENTAGES)


def alive(pod: PodRecord, at: float) -> bool:
    """Whether a pod is there and is not being deleted."""
    return any(span.start <= at < span.end and span.state not in ("terminating", "gone") for span in pod.spans)


def ready(pod: PodRecord, at: float) -> bool:
    return any(span.start <= at < span.end and span.state == "ready" for span in pod.spans)


def moments(pods: list[PodRecord]) -> list[float]:
    return sorted({span.start for pod in pods for span in pod.spans})


def amount(share: int | str, of: int, *, up: bool) -> int:
    if isinstance(share, int):
        return share
    exact = of * int(share[:-1]) / 100
    return math.ceil(exact - 1e-9) if up else math.floor(exact + 1e-9)


@given(st.integers(1, 9), SHARES, SHARES, st.integers(0, 20), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_a_deployment_stays_within_surge_and_unavailable_at_every_moment(
    replicas: int, surge: int | str, missing: int | str, min_ready: int, seed: int
) -> None:
    rolling = {"maxSurge": surge, "maxUnavailable": missing}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    manifest = workload(replicas=replicas, strategy=strategy, minReadySeconds=min_ready)
    cluster = VirtualCluster(manifest, nodes=2, seed=seed, kubelet_version="1.36")
    cluster.behave("web", startup={"min": "1s", "max": "9s"}, stop="4s")
    cluster.run("2m")
    assert cluster.ready("web") == replicas
    cluster.rollout("web", at="2m")
    cluster.run("30m")

    most = replicas + amount(surge, replicas, up=True)
    least = replicas - amount(missing, replicas, up=False)
    if most == least:
        least -= 1
    pods = cluster.history.pods
    for at in (moment for moment in moments(pods) if moment >= 120):
        assert sum(alive(pod, at) for pod in pods) <= most, cluster.timeline()
        assert sum(ready(pod, at) and alive(pod, at) for pod in pods) >= min(least, replicas), cluster.timeline()
    assert cluster.ready("web") == replicas
    assert {pod.version for pod in pods if alive(pod, 1_900)} == {2}


def test_a_version_that_is_never_ready_stops_the_rollout_and_is_said_to_be_overdue() -> None:
    manifest = workload(replicas=4, progressDeadlineSeconds=120)
    cluster = VirtualCluster(manifest, service(), nodes=2)
    cluster.traffic("web", 100)
    cluster.run("1m")
    cluster.rollout("web", at="1m", behaviour=Behaviour(startup="24h"))
    cluster.run("10m")
    # 25 % of four: one more pod, and one old pod less.
    assert cluster.ready("web") == 3
    assert [pod.version for pod in cluster.history.pods if alive(pod, 600)].count(2) == 2
    overdue = [event for event in cluster.events if event.reason == "ProgressDeadlineExceeded"]
    assert [(event.workload, event.at) for event in overdue] == [("web", 180.0)]
    assert cluster.requests("web").lost == pytest.approx(cluster.requests("web").lost_by["no_endpoint"])


def test_recreate_begins_nothing_new_before_everything_old_is_gone() -> None:
    cluster = VirtualCluster(workload(strategy={"type": "Recreate"}))
    cluster.behave("web", stop="7s")
    cluster.run("1m")
    cluster.rollout("web", at="1m")
    cluster.run("1m")
    gone = max(span.start for pod in cluster.history.pods if pod.version == 1 for span in pod.spans)
    began = min(pod.spans[0].start for pod in cluster.history.pods if pod.version == 2)
    assert (gone, began) == (67.0, 67.0)
    assert cluster.ready("web") == 3


def test_a_stateful_set_begins_in_order_and_is_updated_from_its_end() -> None:
    manifest = workload("StatefulSet", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    cluster = VirtualCluster(manifest)
    cluster.behave("web", startup="6s")
    cluster.run("1m")
    pods = cluster.history.pods
    assert [pod.name for pod in pods] == ["web-0", "web-1", "web-2"]
    for before, after in pairwise(pods):
        assert after.spans[0].start == next(span.start for span in before.spans if span.state == "ready")
    cluster.rollout("web", at="1m")
    cluster.run("2m")
    new = [pod.name for pod in cluster.history.pods if pod.version == 2]
    assert new == ["web-2", "web-1"]
    assert cluster.ready("web") == 3


def test_pods_of_a_parallel_stateful_set_begin_together() -> None:
    cluster = VirtualCluster(workload("StatefulSet", podManagementPolicy="Parallel"))
    cluster.behave("web", startup="6s")
    cluster.run("1s")
    assert [pod.spans[0].start for pod in cluster.history.pods] == [0, 0, 0]


def test_a_daemon_set_has_a_pod_on_each_node_and_is_updated_one_by_one() -> None:
    cluster = VirtualCluster(workload("DaemonSet"), nodes=4)
    cluster.behave("web", startup="3s")
    cluster.run("1m")
    assert (cluster.ready("web"), cluster.wanted("web")) == (4, 4)
    assert sorted(pod.node for pod in cluster.history.pods) == cluster.nodes
    cluster.rollout("web", at="1m")
    cluster.run("5m")
    pods = cluster.history.pods
    assert all(sum(ready(pod, at) for pod in pods) >= 3 for at in moments(pods) if at >= 60)
    assert sorted(pod.node for pod in pods if pod.version == 2) == cluster.nodes


def test_another_template_is_a_rollout_and_another_number_of_replicas_is_none() -> None:
    cluster = VirtualCluster(workload(replicas=2))
    cluster.run("1m")
    cluster.apply(workload(replicas=3))
    cluster.run("1m")
    assert {pod.version for pod in cluster.history.pods} == {1}
    assert cluster.ready("web") == 3
    cluster.apply(workload(replicas=3, probes={"readinessProbe": {"tcpSocket": {"port": 8080}}}))
    cluster.run("5m")
    assert {pod.version for pod in cluster.history.pods if alive(pod, cluster.now - 0.001)} == {2}
    assert cluster.containers("web") == {"web/app": ("readiness",)}


@pytest.mark.parametrize("field", [{"maxSurge": "a lot"}, {"maxUnavailable": -1}])
def test_a_share_that_is_none_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ManifestError, match=r"spec\.strategy\.rollingUpdate\.max"):
        VirtualCluster(workload(strategy={"rollingUpdate": field}))


def test_an_eviction_waits_for_its_budget_and_a_rollout_does_not() -> None:
    cluster = VirtualCluster(workload(replicas=3), budget(minAvailable=2), nodes=3)
    cluster.behave("web", startup="9s")
    cluster.run("1m")
    cluster.fault(Evict("web", at="1m"))
    cluster.run("3m")
    pods = cluster.history.pods
    assert all(sum(ready(pod, at) for pod in pods) >= 2 for at in moments(pods) if at >= 60), cluster.timeline()
    assert sum(not alive(pod, cluster.now - 0.001) for pod in pods) == 3


def test_a_budget_without_a_selector_covers_no_pod_and_one_with_an_empty_selector_all() -> None:
    evicted = []
    for selector in (None, {}):
        cluster = VirtualCluster(workload(replicas=3), budget(minAvailable=3, selector=selector), nodes=3)
        cluster.run("1m")
        cluster.fault(Evict("web", at="1m"))
        cluster.run("3m")
        evicted.append(len(cluster.history.pods) - 3)
    assert evicted == [3, 0]


def test_an_old_pod_stays_until_a_new_one_was_ready_for_min_ready_seconds() -> None:
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    cluster = VirtualCluster(workload(replicas=1, minReadySeconds=30, strategy={"rollingUpdate": rolling}))
    cluster.behave("web", startup="4s")
    cluster.run("1m")
    cluster.rollout("web", at="1m")
    cluster.run("2m")
    old, new = cluster.history.pods
    became_ready = next(span.start for span in new.spans if span.state == "ready")
    assert next(span.start for span in old.spans if span.state == "terminating") == became_ready + 30
