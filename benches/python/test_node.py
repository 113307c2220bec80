"""The cost of a whole node, when it changes and when its time is virtual."""

import select
from collections.abc import Iterator

import pytest
from probelet._rust import Engine, ExecEnd, ExecRun, Simulation
from probelet.bench.load import Load
from probelet.bench.place import Place
from probelet.bench.pods import facts, node, pod, uid
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

PODS = 10_000
IDLE_PERIOD_SECONDS = 36_000
NOWHERE = Place.parse("127.0.0.1:9")
VIRTUAL_WORKERS = 1_000
RUNS = 60_000
VIRTUAL_MS = 60_000
ANSWER = b'[{"outcome": "success", "delay_ms": 1}]'


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
