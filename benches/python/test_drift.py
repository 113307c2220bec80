"""What a look at the histories costs the event loop once a minute, on a node with 20,000 workers."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from probelet._rust import Engine, ExecEnd
from probelet.host.drift_watch import READ_MAX, READ_PERIOD_NS, DriftWatch
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import node
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPGetAction, Probe, ProbeType
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

WORKERS = 20_000
ATTEMPTS = 64
PERIOD_SECONDS = 3_600
SECOND_NS = 1_000_000_000
CLOSED = Place.parse("127.1.0.0/9:9")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(seed=1, start_jitter=False)
    for name, spec, status in node(Load("exec", WORKERS, PERIOD_SECONDS), CLOSED):
        engine.define_pod(spec)
        engine.sync_pod(name, status)
    yield engine
    engine.close()


def test_slowest_answers_of_20000_workers(benchmark: BenchmarkFixture, engine: Engine) -> None:
    """Every history is whole, so the call returns as many as it may."""
    for _ in range(ATTEMPTS):
        answered = 0
        while answered < WORKERS:
            execs = engine.drain().execs
            engine.finish_execs([ExecEnd.exit(run.run, 0, b"") for run in execs])
            answered += len(execs)
        engine.advance(PERIOD_SECONDS * SECOND_NS)
    found = benchmark.pedantic(engine.slowest_answers, args=(READ_MAX,), rounds=WORKERS // READ_MAX)
    assert len(found) == READ_MAX


def test_slowest_answers_of_20000_workers_without_news(benchmark: BenchmarkFixture, engine: Engine) -> None:
    assert benchmark(engine.slowest_answers, READ_MAX) == []


class _Timers:
    """A clock that calls what is armed."""

    def __init__(self) -> None:
        self._now = 0
        self._fire: Callable[[], None] = lambda: None

    def now(self) -> int:
        return self._now

    def wall_ns(self) -> int:
        return self._now

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        self._fire = fire
        return 1

    def cancel(self, token: int) -> None:
        raise AssertionError("nothing is cancelled")

    def minute(self) -> None:
        self._now += READ_PERIOD_NS
        self._fire()


def test_a_look_at_200_slowest_answers(benchmark: BenchmarkFixture) -> None:
    """The Python part of a look: each value finds its pod and its release, and counts."""
    answers: list[tuple[str, str, ProbeType, int]] = [
        (f"uid-{number}", "app", "readiness", SECOND_NS // 10) for number in range(READ_MAX)
    ]
    timers = _Timers()
    watch = DriftWatch(timers, lambda _: answers)
    watch.begin({uid: SimpleNamespace(pod=_pod(uid), template=f"Deployment/{uid}") for uid, *_ in answers})
    # Ten minutes' values are one of a release; so each look in the benchmark takes the whole way now and then.
    benchmark.pedantic(timers.minute, rounds=60, warmup_rounds=1)


def _pod(uid: str) -> Pod:
    probe = Probe(http_get=HTTPGetAction(port=80))
    container = Container(name="app", image="web:1", readiness_probe=probe)
    return Pod(metadata=ObjectMeta(name=uid, namespace="default", uid=uid), spec=PodSpec(containers=[container]))
