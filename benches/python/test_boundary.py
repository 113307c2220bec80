"""The cost of each coarse call from Python into Rust and back."""

from collections.abc import Iterator
from itertools import count

import pytest
from probelet._rust import Backoff, Engine, ExecEnd, TimerWheel, TokenBucket
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import facts, node, pod, uid
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

WORKERS = 10_000
EXECS = 1_000
IDLE_PERIOD_SECONDS = 36_000
CLOSED = Place.parse("127.1.0.0/9:9")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(seed=1)
    yield engine
    engine.close()


@pytest.fixture
def full_engine(engine: Engine) -> Engine:
    for name, spec, status in node(Load("http", WORKERS, IDLE_PERIOD_SECONDS), CLOSED):
        engine.define_pod(spec)
        engine.sync_pod(name, status)
    return engine


def test_add_10000_workers(benchmark: BenchmarkFixture, engine: Engine) -> None:
    pods = list(node(Load("http", WORKERS, IDLE_PERIOD_SECONDS), CLOSED))
    for _, spec, _ in pods:
        engine.define_pod(spec)

    def add() -> None:
        for name, _, status in pods:
            engine.sync_pod(name, status)

    benchmark.pedantic(add, rounds=1)


def test_sync_one_pod_of_10000(benchmark: BenchmarkFixture, full_engine: Engine) -> None:
    numbers = count()

    def sync() -> None:
        number = next(numbers) % WORKERS
        full_engine.sync_pod(uid(number), facts(number, "127.0.0.1"))

    benchmark(sync)


def test_drain_an_empty_batch(benchmark: BenchmarkFixture, engine: Engine) -> None:
    benchmark(engine.drain)


def test_hand_out_and_take_back_1000_execs(benchmark: BenchmarkFixture) -> None:
    """Times one call that takes a batch, one that answers it, and the Python code between them."""
    started: list[Engine] = []

    def all_due() -> tuple[tuple[Engine], dict[str, object]]:
        engine = Engine(start_jitter=False)
        started.append(engine)
        for name, spec, status in node(Load("exec", EXECS, IDLE_PERIOD_SECONDS), CLOSED):
            engine.define_pod(spec)
            engine.sync_pod(name, status)
        while b"probelet_exec_attempts_in_flight %d" % EXECS not in engine.metrics():
            pass
        return (engine,), {}

    def turn(engine: Engine) -> None:
        execs = engine.drain().execs
        assert len(execs) == EXECS
        engine.finish_execs([ExecEnd.exit(run.run, 0, b"") for run in execs])

    benchmark.pedantic(turn, setup=all_due, rounds=5)
    for engine in started:
        engine.close()


def test_states_of_10000_workers(benchmark: BenchmarkFixture, full_engine: Engine) -> None:
    assert len(benchmark.pedantic(full_engine.probe_states, rounds=3)) > WORKERS


def test_metrics_page_of_10000_workers(benchmark: BenchmarkFixture, full_engine: Engine) -> None:
    benchmark.pedantic(full_engine.metrics_probes, rounds=3)


def test_define_a_pod(benchmark: BenchmarkFixture, engine: Engine) -> None:
    benchmark(engine.define_pod, pod(0, "http", CLOSED.port, IDLE_PERIOD_SECONDS))


def test_backoff_decides(benchmark: BenchmarkFixture) -> None:
    table, clock = Backoff(), count(step=1_000_000)

    def decide() -> None:
        now = next(clock)
        table.decide("app", now_ns=now, finished_ns=now, exit_code=1, restart_policy="Always")

    benchmark(decide)


def test_token_bucket_takes(benchmark: BenchmarkFixture) -> None:
    bucket, clock = TokenBucket(burst=25, interval_ns=300_000_000_000), count(step=100_000_000_000)
    benchmark(lambda: bucket.take(next(clock)))


def test_timer_wheel_fires_and_arms_again(benchmark: BenchmarkFixture) -> None:
    wheel, clock = TimerWheel(), count(start=1_000_000, step=1_000_000)
    for token in range(WORKERS):
        wheel.arm((token + 1) * 1_000_000, token)

    def turn() -> None:
        now = next(clock)
        for token in wheel.fire(now):
            wheel.arm(now + WORKERS * 1_000_000, token)

    benchmark(turn)
