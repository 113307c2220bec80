"""What a cluster takes and refuses, and how it tells its past."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probelet.errors import InvalidInputError
from probelet.virtual.cluster import (
    Behaviour,
    ClusterError,
    Deadlock,
    DependencySlow,
    Exit,
    ManifestError,
    MemoryLeak,
    NodeSlow,
    Partition,
    Pause,
    TrafficStep,
    VirtualCluster,
)

from tests.unit.virtual.cluster.manifests import service, workload


@pytest.fixture
def cluster() -> VirtualCluster:
    return VirtualCluster(workload(), service())


def test_the_simple_case_is_three_lines(cluster: VirtualCluster) -> None:
    cluster.traffic("web", rate=300)
    cluster.run("1m")
    assert cluster.ready("web") == 3, cluster.timeline()
    assert repr(cluster) == "<Cluster at 1m0s, seed 0: web 3/3 ready>"


def test_manifests_come_from_files_folders_texts_and_lists(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("# only a comment\n---\n" + str(workload(name="a")).replace("'", '"'))
    listed = {"apiVersion": "v1", "kind": "List", "items": [workload(name="b"), service("b"), workload(name="c")]}
    found = VirtualCluster(tmp_path, [listed])
    assert found.workloads == ["a", "b", "c"]
    assert found.services == ["b"]
    assert found.services_of("b") == ["b"]
    found.run("30s")
    assert [found.ready(name) for name in found.workloads] == [3, 3, 3]


def test_names_of_two_namespaces_are_told_apart() -> None:
    one, other = workload(), workload()
    other["metadata"] = {"name": "web", "namespace": "other"}
    svc = service()
    svc["metadata"] = {"name": "web", "namespace": "other"}
    cluster = VirtualCluster(one, other, service(), svc)
    assert cluster.workloads == ["web", "other/web"]
    assert cluster.services == ["web", "other/web"]
    assert (cluster.services_of("web"), cluster.services_of("other/web")) == (["web"], ["other/web"])
    cluster.behave("other/web/app", startup="5m")
    cluster.run("1m")
    assert (cluster.ready("web"), cluster.ready("other/web")) == (3, 0)


def test_a_service_serves_with_the_container_of_its_target_port() -> None:
    manifest = workload(probes={})
    containers = manifest["spec"]["template"]["spec"]["containers"]
    containers.insert(0, {"name": "proxy", "image": "i"})
    cluster = VirtualCluster(manifest, service())
    cluster.traffic("web", 10)
    cluster.behave("web/proxy", startup="1h")
    cluster.run("1m")
    assert cluster.requests("web").lost_by["not_serving"] == 0
    cluster.behave("web/app", latency="5s")
    cluster.run("1m")
    assert cluster.requests("web").lost_by["timeout"] > 0


def test_a_service_that_is_asked_is_down_while_it_has_no_endpoint() -> None:
    cluster = VirtualCluster(workload(), service(), workload(name="api"), service("api"))
    cluster.run("10s")
    cluster.dependency("api", "5ms")
    cluster.behave("web", asks={"readiness": ["api"]})
    cluster.run("30s")
    assert cluster.ready("web") == 3
    cluster.fault(Deadlock("api", at="1m"))
    cluster.run("2m")
    assert cluster.ready("web") == 0
    assert {each.why for each in cluster.history.pods[0].probes[0].attempts} == {"", "api"}


def test_the_timeline_is_in_order_and_ends_with_the_seed(cluster: VirtualCluster) -> None:
    cluster.traffic("web", 10)
    cluster.fault(Exit("web/app", 1, at="20s"))
    cluster.run("1m")
    *lines, requests, last = cluster.timeline(1_000).splitlines()
    moments = [float(line.split(" s ")[0]) for line in lines]
    assert moments == sorted(moments)
    assert any("fault  web/app exits (1)" in line for line in lines)
    assert requests.startswith("requests to web: 600.0 offered")
    assert "seed 0" in last
    assert cluster.timeline(2).startswith("... ")


def test_a_history_does_not_change(cluster: VirtualCluster) -> None:
    cluster.run("10s")
    before = cluster.history
    spans, events = [list(pod.spans) for pod in before.pods], len(before.events)
    cluster.fault(Exit("web/app"))
    cluster.run("1m")
    assert [pod.spans for pod in before.pods] == spans
    assert len(before.events) == events < len(cluster.history.events)


def test_attempts_are_bounded_and_what_failed_is_kept() -> None:
    probes = {"readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1}}
    cluster = VirtualCluster(workload(replicas=1, probes=probes), attempts=100)
    cluster.behave("web", pause=Pause("2s", "30m"))
    cluster.run("6h")
    probe = cluster.history.pods[0].probes[0]
    assert len(probe.attempts) <= 100
    assert probe.made > 20_000
    assert sum(each.outcome != "success" for each in probe.attempts) == probe.failed > 0


REFUSED: list[tuple[Callable[[VirtualCluster], Any], str]] = [
    (lambda _: VirtualCluster(nodes=0), "nodes: 0: must be from 1 to 1000"),
    (lambda c: c.run("5"), 'duration: time: missing unit in duration "5"'),
    (lambda c: c.run("-5s"), "duration: '-5s': must not be negative"),
    (lambda c: c.ready("api"), "workload: 'api': no such workload; there are web"),
    (lambda c: c.requests("api"), "service: 'api': no such Service or workload; there are web"),
    (lambda c: c.traffic("web", -1), "rate: -1: must be from 0 to 1e9 requests a second"),
    (lambda c: c.traffic("web", 1, timeout="0s"), "timeout: '0s': must be more than 0"),
    (lambda c: c.behave("web/api"), "target: 'web/api': no such workload or container; there are web, web/app"),
    (lambda c: c.behave("web", speed=1), "field: 'speed': no such field of Behaviour; there are startup, latency"),
    (lambda c: c.behave("web", asks={"requests": ["db"]}), "dependency: 'db': no such dependency; there are none"),
    (lambda c: c.behave("web", concurrency=0), "concurrency: 0: must be at least 1, or None for any number"),
    (lambda c: c.behave("web", latency=5), "behaviour: "),
    (lambda c: c.dependency("a", asks=("b",)), "dependency: 'b': no such dependency; there are none"),
    (lambda c: c.fault(DependencySlow("db", "1s")), "dependency: 'db': no such dependency; there are none"),
    (lambda c: c.fault(NodeSlow("node-7")), "node: 'node-7': no such node; there are *, node-0"),
    (lambda c: c.fault(TrafficStep("web", 5)), "service: 'web': no such Service with traffic; there are none"),
    (lambda c: c.fault(Partition("web")), "cut: 'web': without a dependency it must be a node"),
    (lambda c: c.fault(MemoryLeak("web", "a lot")), "per_hour: 'a lot': quantities must match"),
    (lambda c: c.rollout("api"), "workload: 'api': no such workload; there are web"),
    (lambda c: c.fault(NodeSlow("node-0", 0)), "factor: 0: must be from 0.01 to 1000"),
    (lambda c: c.fault(Exit("web", "half")), "replicas: 'half': must be a number, or a percentage from 0% to 100%"),
    (lambda c: c.fault(Exit("web", code=256)), "code: 256: must be from 0 to 255"),
    (lambda c: c.fault(Deadlock("web", -1)), "replicas: -1: must be at least 0"),
    (lambda c: c.fault(DependencySlow("db", "1s", lasts="0s")), "lasts: '0s': must be more than 0"),
    (lambda c: c.fault(DependencySlow("db", {"p50": "2s", "p99": "1s"})), "latency.p99: '1s': must be at least p50"),
    (
        lambda c: c.fault(DependencySlow("db", {"p50": "0s", "p99": "1s"})),
        "latency.p50: '0s': must be more than 0 beside a p99",
    ),
    (lambda _: Behaviour(latency={"mean": "2s"}), "latency: {'mean': '2s'}: must have the keys"),
    (lambda _: Behaviour(pause=Pause("2s", "2s")), "pause.lasts: '2s': must be less than every, which is '2s'"),
    (lambda _: Behaviour(asks={"everything": ["db"]}), "asks: 'everything': must be one of"),  # type: ignore[dict-item]
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_a_mistake_is_one_line_with_the_value_and_what_is_allowed(
    cluster: VirtualCluster, call: Callable[[VirtualCluster], Any], text: str
) -> None:
    with pytest.raises(ClusterError) as caught:
        call(cluster)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def test_dependencies_that_ask_in_a_circle_are_refused(cluster: VirtualCluster) -> None:
    cluster.dependency("c")
    cluster.dependency("b", asks=("c",))
    cluster.dependency("a", asks=("b",))
    with pytest.raises(ClusterError, match="dependencies ask in a circle: c -> a -> b -> c"):
        cluster.dependency("c", asks=("a",))


def test_a_chain_of_dependencies_takes_their_sum(cluster: VirtualCluster) -> None:
    cluster.dependency("b", "300ms")
    cluster.dependency("a", "200ms", asks=("b",))
    cluster.behave("web", latency="100ms", asks={"readiness": ["a"]})
    cluster.run("10s")
    assert cluster.history.pods[0].probes[0].attempts[-1].took == 0.6


def test_manifests_with_mistakes_are_refused_and_nothing_is_applied(cluster: VirtualCluster) -> None:
    bad = workload(name="bad")
    bad["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] = {"periodSeconds": -1}
    with pytest.raises(ManifestError, match="must specify a handler type"):
        cluster.apply(workload(name="good"), bad)
    with pytest.raises(ManifestError, match="Duplicate value"):
        cluster.apply(workload(name="twice"), workload(name="twice"))
    with pytest.raises(ManifestError, match="unknown field"):
        cluster.apply({**workload(name="typo"), "spce": {}})
    assert cluster.workloads == ["web"]


def test_a_release_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="kubelet_version"):
        VirtualCluster(workload(), kubelet_version="1.12")
