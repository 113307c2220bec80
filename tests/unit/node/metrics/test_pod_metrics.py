"""The series of pods that the kubelet and kube-state-metrics also have."""

from probelet.base.exposition.process_metrics import render_process
from probelet.node.metrics.pod_start import PodStart
from probelet.node.metrics.pods import PodMetrics
from probelet.policy.protocol.actions import Publish
from probelet.policy.status.container_status import ContainerStatus

from tests.unit.node.scripted_node import ScriptedNode, make_manifest

SECOND = 1_000_000_000


async def test_a_node_has_every_series_that_an_operator_watches(node: ScriptedNode) -> None:
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.pod().get("ready"))
    page = node.service.view.metrics().decode()
    assert 'kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1\n' in page
    assert "kubelet_pod_start_duration_seconds_count 1\n" in page
    assert "kubelet_pod_start_sli_duration_seconds_count 1\n" in page
    assert 'kubelet_runtime_operations_duration_seconds_count{operation_type="run_podsandbox"}' not in page, (
        "the client of this node has no observer"
    )
    assert "process_cpu_seconds_total " in page
    by_name = node.service.view.metrics_pods().decode()
    labels = 'namespace="default",pod="web",uid="uid-web"'
    assert f'kube_pod_container_status_restarts_total{{{labels},container="app"}} 0\n' in by_name
    assert f'kube_pod_restart_policy{{{labels},type="Always"}} 1\n' in by_name
    assert f"kube_pod_start_time{{{labels}}} " in by_name
    assert f"kube_pod_created{{{labels}}} " in by_name


def test_a_start_counts_once_and_its_sli_leaves_out_pulls_and_init_containers() -> None:
    metrics, start = PodMetrics(), PodStart(10 * SECOND)
    start.pulled(3 * SECOND)
    init = ContainerStatus("init", "init", state="terminated", started_at_ms=1_000, finished_at_ms=5_000)
    waiting = {"init": init, "app": ContainerStatus("app", "regular")}
    running = {"init": init, "app": ContainerStatus("app", "regular", state="running")}
    start.observe(Publish("Pending", "", waiting, False), 12 * SECOND, metrics)
    for now in (30, 40):
        start.observe(Publish("Running", "", running, False), now * SECOND, metrics)
    page = metrics.render().decode()
    assert "kubelet_pod_start_duration_seconds_sum 20\n" in page
    assert "kubelet_pod_start_duration_seconds_count 1\n" in page
    assert "kubelet_pod_start_sli_duration_seconds_sum 13\n" in page


def test_the_process_metrics_show_memory_and_cpu_time_of_this_process() -> None:
    values = dict(line.split() for line in render_process().decode().splitlines() if not line.startswith("#"))
    assert float(values["process_cpu_seconds_total"]) > 0
    assert int(values["process_resident_memory_bytes"]) > 1_000_000
