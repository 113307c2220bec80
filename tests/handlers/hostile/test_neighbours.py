"""Fifty workers with hostile targets and fifty with healthy ones in one engine: the healthy workers notice nothing.

The tests count runs against runs, and give the healthy workers a timeout that no machine is slow enough to reach.
"""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import handler
from tests.handlers.hostile.memory import measured
from tests.handlers.hostile.served_engine import ServedEngine, Worker, served_engine

pytestmark = pytest.mark.e2e

WORKERS = 50
# The runs that each healthy worker must complete beside the hostile ones.
RUNS_WANTED = 3
# Longer than any test, so that no timeout ends an attempt.
FOR_EVER_SECONDS = 3600
# The whole engine with that many attempts under way.
BYTES_MAX = 32 * 1024 * 1024
# Workers whose attempts are held all at once, for how long, and what each may cost, with its socket and TLS.
HELD_WORKERS = 300
HELD_SECONDS = 15
HELD_BYTES_MAX = 320 * 1024
# What may be left of their memory.
LEFT_BYTES_MAX = 24 * 1024 * 1024

# Targets that end an attempt, or leave it to the timeout of a second, so that attempt follows attempt.
ENDING = {
    "cut": ("httpGet", ["reset-at-accept", "reset-in-body", "close-in-headers", "half-close", "dropping"]),
    "slow": ("httpGet", ["silence", "slow-headers", "slow-body", "hasty-header", "slow-chunk-line"]),
    "bodies": ("httpGet", ["endless-body", "endless-chunks", "huge-chunk", "chunk-extensions"]),
    "heads": ("httpGet", ["endless-tiny-headers", "endless-kept-headers", "endless-folds", "interim-responses"]),
    "quotes": ("httpGet", ["long-wrong-line", "redirect-to-a-wrong-target", "redirect-to-a-long-target", "noise"]),
    "redirects": ("httpGet", ["redirect-loop", "redirect-to-itself-with-bodies", "redirect-with-a-slow-body"]),
    "tls": ("https", ["tls-stall", "tls-warnings", "tls-endless-message", "https-endless-tiny-headers"]),
    "h2": ("https", ["https-h2-pings", "https-h2-settings", "https-h2-window-updates", "https-h2-continuations"]),
    "grpc": ("grpc", ["h2-pings-unread", "h2-continuations", "h2-unknown-frames", "h2-resets", "h2-zero-window"]),
}
# Targets whose attempts never end without a timeout.
UNENDING = {
    "slow": ("httpGet", ["silence", "slow-headers", "slow-body", "slow-chunk-line"]),
    "tls": ("https", ["tls-stall", "https-silence", "https-slow-headers"]),
    "h2": ("https", ["https-h2-pings", "https-h2-settings", "https-h2-window-updates", "https-h2-unknown-frames"]),
    "grpc": ("grpc", ["h2-pings-unread", "h2-unknown-frames", "h2-window-updates", "h2-zero-window"]),
}


def settle(engine: ServedEngine, kind: str, targets: list[int], healthy_port: int, timeout_seconds: int) -> None:
    """Adds healthy and hostile workers in turn, so that every healthy worker has a hostile neighbour."""
    for number in range(WORKERS):
        engine.add(f"healthy-{number}", handler("httpGet", healthy_port), FOR_EVER_SECONDS)
        engine.add(f"hostile-{number}", handler(kind, targets[number % len(targets)]), timeout_seconds)


def of(kind: str, workers: dict[str, Worker]) -> list[Worker]:
    return [worker for worker in workers.values() if worker.pod.startswith(kind)]


def all_have_run(kind: str, runs: int) -> Callable[[dict[str, Worker]], bool]:
    return lambda workers: all(worker.runs >= runs for worker in of(kind, workers))


def judge_healthy(workers: dict[str, Worker]) -> None:
    healthy = of("healthy", workers)
    assert {(worker.result, worker.last["cause"]) for worker in healthy} == {("Success", "ok")}
    assert sum(worker.failures + worker.errors for worker in healthy) == 0


@pytest.mark.parametrize("group", ENDING)
def test_healthy_workers_run_beside_one_hostile_attempt_after_another(
    group: str, ports: dict[str, int], healthy_port: int
) -> None:
    kind, behaviours = ENDING[group]
    with served_engine() as engine, measured() as growth:
        settle(engine, kind, [ports[name] for name in behaviours], healthy_port, timeout_seconds=1)
        healthy, hostile = all_have_run("healthy", RUNS_WANTED), all_have_run("hostile", 1)
        workers = engine.serve_until(lambda workers: healthy(workers) and hostile(workers))
    judge_healthy(workers)
    assert growth.peak_bytes <= BYTES_MAX


@pytest.mark.parametrize("group", UNENDING)
def test_healthy_workers_run_beside_attempts_that_never_end(
    group: str, ports: dict[str, int], healthy_port: int
) -> None:
    """An attempt that did not yield its thread, even once, would keep the thread for ever."""
    kind, behaviours = UNENDING[group]
    with served_engine() as engine, measured() as growth:
        settle(engine, kind, [ports[name] for name in behaviours], healthy_port, timeout_seconds=FOR_EVER_SECONDS)
        workers = engine.serve_until(all_have_run("healthy", RUNS_WANTED))
    judge_healthy(workers)
    assert {worker.runs for worker in of("hostile", workers)} == {0}, "all of them are still under way"
    assert growth.peak_bytes <= BYTES_MAX


@pytest.mark.parametrize(
    ("kind", "behaviour"),
    [
        pytest.param("httpGet", "held-head", marks=pytest.mark.slow),
        ("https", "https-h2-held-references"),
        pytest.param("grpc", "h2-held-references", marks=pytest.mark.slow),
        pytest.param("grpc", "h2-grpc-held-message", marks=pytest.mark.slow),
    ],
)
def test_hundreds_of_attempts_that_targets_hold_cost_little_each_and_leave_little(
    kind: str, behaviour: str, ports: dict[str, int], healthy_port: int
) -> None:
    """A target sends what decodes to megabytes, and never its end. Once the pods are gone, so is their memory."""
    with served_engine() as engine, measured() as growth:
        for number in range(HELD_WORKERS):
            engine.add(f"hostile-{number}", handler(kind, ports[behaviour]), HELD_SECONDS)
        for number in range(WORKERS):
            engine.add(f"healthy-{number}", handler("httpGet", healthy_port), FOR_EVER_SECONDS)
        workers = engine.serve_until(all_have_run("healthy", RUNS_WANTED))
        assert {worker.runs for worker in of("hostile", workers)} == {0}, "all of them are still under way"
        judge_healthy(workers)
        engine.serve_until(all_have_run("hostile", 1))
        for number in range(HELD_WORKERS):
            engine.remove(f"hostile-{number}")
        engine.serve_until(lambda _: growth.now_bytes() <= LEFT_BYTES_MAX)
    assert growth.peak_bytes <= HELD_WORKERS * HELD_BYTES_MAX


def test_healthy_workers_run_beside_every_hostile_target_at_once(ports: dict[str, int], healthy_port: int) -> None:
    """Each target gets an attempt by each kind of handler that it can harm, again and again."""
    with served_engine() as engine, measured() as growth:
        for name, port in ports.items():
            for kind in ["https"] if name.startswith(("https-", "tls")) else ["httpGet", "https", "grpc"]:
                engine.add(f"hostile-{kind}-{name}", handler(kind, port))
        for number in range(WORKERS):
            kind = "httpGet" if number % 2 else "tcpSocket"
            engine.add(f"healthy-{number}", handler(kind, healthy_port), FOR_EVER_SECONDS)
        healthy, hostile = all_have_run("healthy", RUNS_WANTED), all_have_run("hostile", 1)
        workers = engine.serve_until(lambda workers: healthy(workers) and hostile(workers))
    judge_healthy(workers)
    assert growth.peak_bytes <= BYTES_MAX


def test_a_mailbox_that_nobody_reads_has_a_limit(ports: dict[str, int]) -> None:
    with served_engine() as engine, measured() as growth:
        for number in range(WORKERS):
            engine.add(f"hostile-{number}", handler("httpGet", ports["long-wrong-line"]), FOR_EVER_SECONDS)
        engine.wait_until(all_have_run("hostile", RUNS_WANTED))
        batch = engine.drain()
    assert len(batch.events) >= WORKERS * RUNS_WANTED
    assert max(len(event.message) for event in batch.events) < 2 * 10_240, "an event is as long as an output"
    assert growth.peak_bytes <= BYTES_MAX
