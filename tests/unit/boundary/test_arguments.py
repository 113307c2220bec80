"""Whatever number or text Python passes in: the call works, or one error of one line says which argument is wrong."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from probelet import _rust
from probelet._rust import (
    Backoff,
    CrashLoad,
    CrashModel,
    Engine,
    ExecEnd,
    Requeue,
    RestartSpec,
    Simulation,
    TimerWheel,
    TokenBucket,
)
from probelet.errors import ProbeletError

from tests.unit.boundary.documents import UID, facts, pod

Call = Callable[..., object]

EDGES = [edge + step for edge in (0, 2**31, 2**32, 2**63, 2**64, -(2**31), -(2**63)) for step in (-1, 0, 1)]
numbers = st.sampled_from(EDGES) | st.integers(-(2**70), 2**70)
texts = st.sampled_from(["", UID, "c://1", "liveness", "kubelet", "1.36", "Always"]) | st.text(max_size=8)
documents = st.sampled_from([pod(), facts(), b"", b"[]", b"{}", b"null", b"\xff", b"9" * 5_000])


def outcome(call: Call, *positional: Any, **named: Any) -> object:
    """The value or the error of probelet; any other exception is a mistake of the extension."""
    try:
        found = call(*positional, **named)
    except ProbeletError as error:
        found = error
    if isinstance(found, ProbeletError):
        assert isinstance(found, ValueError)
        assert len(str(found).splitlines()) == 1
    return found


@given(st.data())
def test_a_back_off_table_takes_any_number(data: st.DataObject) -> None:
    names = ("initial_ns", "max_ns", "reset_ns", "factor_milli")
    table = outcome(Backoff, **{name: data.draw(numbers) for name in names})
    if not isinstance(table, Backoff):
        table = Backoff()
    for _ in range(3):
        key, policy = data.draw(texts), data.draw(texts)
        own = data.draw(st.none() | st.tuples(numbers, numbers))
        exit_code = data.draw(st.none() | numbers)
        now, finished = data.draw(numbers), data.draw(st.none() | numbers)
        rules = data.draw(st.none() | documents)
        for name in ("Always", policy):
            outcome(
                table.decide,
                key,
                now_ns=now,
                finished_ns=finished,
                exit_code=exit_code,
                restart_policy=name,
                rules=rules,
                own=own,
            )
        outcome(table.back_off, key, now_ns=now, finished_ns=data.draw(numbers), own=own)
        outcome(table.note_start, key, now)
        outcome(table.note_failure, key, now)
        outcome(table.retry_due, key, data.draw(numbers))
        outcome(table.collect, data.draw(numbers))
        assert table.delay_ns(key) >= 0
        assert len(table.keys()) == len(table)


@given(codes=st.lists(numbers, max_size=2), exit_code=numbers, policy=texts, operator=st.sampled_from(["In", "in"]))
def test_restart_rules_take_any_number(codes: list[int], exit_code: int, policy: str, operator: str) -> None:
    spec = outcome(RestartSpec, "Always", policy or None, rules=[("Restart", operator, codes)])
    if isinstance(spec, RestartSpec):
        outcome(spec.after_exit, exit_code)
        outcome(spec.restarts_all, exit_code)


@given(seed=numbers, due=st.none() | numbers, now=numbers)
def test_a_requeue_takes_any_number(seed: int, due: int | None, now: int) -> None:
    requeue = outcome(Requeue, seed=seed)
    if isinstance(requeue, Requeue):
        outcome(requeue.look_again, due, now)


@given(st.data())
def test_a_token_bucket_takes_any_number(data: st.DataObject) -> None:
    bucket = outcome(TokenBucket, burst=data.draw(numbers), interval_ns=data.draw(numbers))
    if not isinstance(bucket, TokenBucket):
        return
    for _ in range(4):
        now = data.draw(numbers)
        outcome(bucket.take, now, data.draw(numbers))
        outcome(bucket.available, now)
        reserved = outcome(bucket.reserve, now)
        assert not isinstance(reserved, int) or reserved >= now, "no token is there before someone asks"


@given(st.data())
def test_a_timer_wheel_takes_any_number(data: st.DataObject) -> None:
    wheel = TimerWheel()
    for _ in range(5):
        timer = outcome(wheel.arm, data.draw(numbers), data.draw(numbers))
        if isinstance(timer, int) and data.draw(st.booleans()):
            assert wheel.cancel(timer)
        outcome(wheel.cancel, data.draw(numbers))
        outcome(wheel.fire, data.draw(numbers))
        wheel.next_deadline()
    assert len(wheel) <= 5


@given(st.data())
def test_a_crash_model_takes_any_number(data: st.DataObject) -> None:
    names = (
        "initial_ns",
        "max_ns",
        "reset_ns",
        "factor_milli",
        "jitter_milli",
        "run_min_ns",
        "run_max_ns",
        "exit_code",
    )
    model = outcome(
        CrashModel,
        **{name: data.draw(numbers) for name in (*names, "run_min_ns", "run_max_ns")},
        first_free=data.draw(st.booleans()),
        by_kubelet=data.draw(st.booleans()),
        policy=data.draw(st.sampled_from(["Always", "OnFailure", "Never", "always"])),
    )
    load = outcome(CrashLoad, window_ns=data.draw(numbers), slot_ns=data.draw(numbers))
    if isinstance(load, CrashLoad):
        assert load.restarts == sum(load.slots) == 0
    if isinstance(model, CrashModel):
        count = data.draw(numbers.filter(lambda count: not 100 < count <= 10_000_000))
        outcome(model.restarts, count=count, until_ns=data.draw(numbers), seed=data.draw(numbers))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine(glue=False)
    yield engine
    engine.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_an_engine_takes_any_argument(engine: Engine, data: st.DataObject) -> None:
    uid, document = data.draw(texts), data.draw(documents)
    for call in (engine.set_pod_status, engine.update_pod_status, engine.sync_pod, engine.sync_terminating_pod):
        outcome(call, uid, document)
    for call in (engine.define_pod, engine.add_pod):
        outcome(call, document)
    for call in (engine.stop_liveness_and_startup, engine.remove_pod, engine.remove_pod_status, engine.forget_pod):
        outcome(call, uid)
    outcome(engine.cleanup_pods, [uid])
    outcome(engine.result, data.draw(texts), data.draw(texts))
    outcome(engine.arm, data.draw(numbers), data.draw(numbers))
    outcome(engine.cancel, data.draw(numbers))
    end = outcome(ExecEnd.exit, data.draw(numbers), data.draw(numbers), document)
    engine.finish_execs([end] if isinstance(end, ExecEnd) else [])
    outcome(engine.probe_states, uid, data.draw(numbers))
    engine.drain()


@given(st.data())
def test_a_simulation_takes_any_argument(data: st.DataObject) -> None:
    simulation = outcome(
        Simulation, warmup_ms=data.draw(numbers), seed=data.draw(numbers), glue=data.draw(texts), phase=data.draw(texts)
    )
    if not isinstance(simulation, Simulation):
        simulation = Simulation()
    uid, document = data.draw(texts), data.draw(documents)
    for call in (
        simulation.set_pod_status,
        simulation.update_pod_status,
        simulation.sync_pod,
        simulation.sync_terminating_pod,
        simulation.sync_terminated_pod,
        simulation.script,
    ):
        outcome(call, uid, document)
    outcome(simulation.define_pod, document)
    # The latest time comes last: after it there is nothing left to play.
    for t_ms in (data.draw(numbers), -(2**62), 0, 2**62):
        outcome(simulation.run_until, t_ms)
        outcome(simulation.run_until_update, t_ms, "readiness", "test://1")
        simulation.next_ms()
    simulation.take_records()


@given(fields=st.dictionaries(st.sampled_from(["periodSeconds", "timeoutSeconds", "initialDelaySeconds"]), numbers))
def test_a_probe_with_any_number_is_played_or_refused(fields: dict[str, int]) -> None:
    simulation = Simulation(warmup_ms=0)
    if outcome(simulation.define_pod, pod(**fields)) is None:
        simulation.sync_pod(UID, facts())
        simulation.run_until(60_000)
        simulation.next_ms()


@given(ports=st.lists(st.tuples(texts, numbers), max_size=2), port=numbers)
def test_one_attempt_takes_any_port(ports: list[tuple[str, int]], port: int) -> None:
    spec = b'{"tcpSocket": {"port": "http", "host": "127.0.0.1"}, "timeoutSeconds": 1}'
    outcome(_rust.attempt, spec, "127.0.0.1", [*ports, ("http", port)], "test")
