"""The cost of a whole node, when it changes and when its time is virtual, and of a cluster in virtual time."""

import json
import select
from collections.abc import Iterator

import pytest
from probelet._rust import ClusterModel, Engine, ExecEnd, ExecRun, Simulation
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import facts, node, pod, uid
from probelet.virtual.cluster import VirtualCluster
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

PODS = 10_000
IDLE_PERIOD_SECONDS = 36_000
NOWHERE = Place.parse("127.0.0.1:9")
VIRTUAL_WORKERS = 1_000
RUNS = 60_000
VIRTUAL_MS = 60_000
ANSWER = b'[{"outcome": "success", "delay_ms": 1}]'
MILLISECOND = 1_000_000
STEADY = {
    "startup": {"shape": "constant", "low_ns": 0},
    "latency": {"shape": "constant", "low_ns": MILLISECOND},
    "probe_latency": None,
    "concurrency": None,
    "queue": 0,
    "asks": {"requests": [], "startup": [], "readiness": [], "liveness": []},
    "apart": False,
    "exits_after": None,
    "pause": None,
    "leak": None,
    "factor": 1.0,
    "late_ns": 0,
    "cut_off": False,
    "cut": [],
}


@pytest.fixture
def engines() -> Iterator[list[Engine]]:
    """Closes everything that a round starts."""
    started: list[Engine] = []
    yield started
    for engine in started:
        engine.close()


def test_status_change_of_10000_pods(benchmark: BenchmarkFixture, engines: list[Engine]) -> None:
    """Every readiness probe succeeds for the first time: results go in; updates and pods to sync come out."""

    def all_in_flight() -> tuple[tuple[Engine, list[ExecRun]], dict[str, object]]:
        engine = Engine(start_jitter=False)
        engines.append(engine)
        for name, spec, status in node(Load("exec", PODS, IDLE_PERIOD_SECONDS), NOWHERE):
            engine.define_pod(spec)
            engine.sync_pod(name, status)
        runs: list[ExecRun] = []
        while len(runs) < PODS:
            wait(engine)
            runs += engine.drain().execs
        return (engine, runs), {}

    def change(engine: Engine, runs: list[ExecRun]) -> None:
        engine.finish_execs([ExecEnd.exit(run.run, 0, b"") for run in runs])
        changed = 0
        while changed < PODS:
            wait(engine)
            changed += len(engine.drain().updates)

    benchmark.pedantic(change, setup=all_in_flight, rounds=3)


def wait(engine: Engine) -> None:
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    poll.poll()


def test_60000_runs_in_virtual_time(benchmark: BenchmarkFixture) -> None:
    """Plays 1,000 workers for a minute; divide by 60,000 for the time of a run."""

    def loaded() -> tuple[tuple[Simulation], dict[str, object]]:
        simulation = Simulation(record=False)
        for number in range(VIRTUAL_WORKERS):
            simulation.define_pod(pod(number, "exec", 1, 1))
            simulation.sync_pod(uid(number), facts(number, "127.0.0.1"))
            simulation.script(f"bench-{number}/app/readiness", ANSWER)
        return (simulation,), {}

    def play(simulation: Simulation) -> None:
        simulation.run_until(VIRTUAL_MS)
        assert simulation.runs > RUNS * 0.99

    benchmark.pedantic(play, setup=loaded, rounds=5)


def test_60000_runs_in_a_cluster(benchmark: BenchmarkFixture) -> None:
    """Plays the same workers where containers answer by their behaviour, in 1 ms, and nothing but probes happens."""

    def loaded() -> tuple[tuple[ClusterModel, Simulation], dict[str, object]]:
        model = ClusterModel(seed=0, attempts=2_000)
        simulation = ClusterModel.simulation(seed=0, kubelet_version="1.36")
        for number in range(VIRTUAL_WORKERS):
            container = model.add_container(uid(number), f"bench-{number}", "app", json.dumps(STEADY).encode())
            model.start(0, container, 0)
            simulation.define_pod(pod(number, "exec", 1, 1))
            simulation.sync_pod(uid(number), facts(number, "127.0.0.1"))
        # Each pod's first success asks for a sync, which ends a run.
        while model.run([simulation], VIRTUAL_MS // 100 * MILLISECOND)[1]:
            simulation.take_changes()
        return (model, simulation), {}

    def play(model: ClusterModel, simulation: Simulation) -> None:
        reached = model.run([simulation], (VIRTUAL_MS + VIRTUAL_MS // 100) * MILLISECOND)
        assert reached == ((VIRTUAL_MS + VIRTUAL_MS // 100) * MILLISECOND, False)
        assert simulation.runs > RUNS * 0.99

    benchmark.pedantic(play, setup=loaded, rounds=5)


def test_a_day_of_1000_pods_in_a_cluster(benchmark: BenchmarkFixture) -> None:
    """Ten nodes, two probes each ten seconds of a pod, latencies that vary, and requests to all of them."""
    probe = {"httpGet": {"port": 8080}, "periodSeconds": 10}
    container = {"name": "app", "image": "i", "readinessProbe": probe, "livenessProbe": probe}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 1_000, "selector": {"matchLabels": labels}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}

    # Without a measurement an hour shows that it works.
    duration = "1h" if benchmark.disabled else "24h"

    def begun() -> tuple[tuple[VirtualCluster], dict[str, object]]:
        cluster = VirtualCluster(manifest, nodes=10)
        cluster.behave("web", latency={"p50": "20ms", "p99": "200ms"}, concurrency=8)
        cluster.traffic("web", rate=50_000)
        return (cluster,), {}

    def play(cluster: VirtualCluster) -> None:
        cluster.run(duration)
        assert cluster.ready("web") == 1_000

    benchmark.pedantic(play, setup=begun, rounds=1)
