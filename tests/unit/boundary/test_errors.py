"""Each mistake of a caller is one error of probelet: one line with the argument, its value and the rule."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probelet import _rust
from probelet._rust import (
    Backoff,
    CrashLoad,
    CrashModel,
    Engine,
    ExecEnd,
    Requeue,
    Simulation,
    TimerWheel,
    TokenBucket,
)
from probelet.errors import InvalidInputError, JournalError, ProbeletError, UnknownPodError

from tests.unit.boundary.documents import UID, facts, pod

CRASHES: dict[str, Any] = {
    "initial_ns": 10**9,
    "max_ns": 10**9,
    "reset_ns": 10**9,
    "factor_milli": 2000,
    "jitter_milli": 0,
    "first_free": True,
    "run_min_ns": 5,
    "run_max_ns": 5,
    "exit_code": 1,
    "policy": "Always",
    "by_kubelet": False,
}
LAST_MS = 2**41
TIMES = "must be from -62135596800000 to 253402300799999"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Simulation().run_until(2**62), f"t_ms: {2**62}: must be from {-LAST_MS} to {LAST_MS}"),
        (lambda: Simulation().run_until(10**5000), "t_ms: a number too long to print: must be from"),
        (lambda: Simulation().run_until_update(-(2**63), "liveness", ""), f"t_ms: {-(2**63)}: must be from"),
        (lambda: Simulation(warmup_ms=-1), f"warmup_ms: -1: must be from 0 to {LAST_MS}"),
        (
            lambda: Simulation(glue="reediness"),
            'glue: "reediness": must be kubelet, none, or a list of readiness, startup, sync with commas',
        ),
        (lambda: Simulation(glue="kubelet,sync"), 'glue: "kubelet,sync": must be'),
        (lambda: Simulation(glue=""), 'glue: "": must be'),
        (lambda: Simulation().set_pod_status(UID, facts(-(2**63))), f"started_at_ms: {-(2**63)}: {TIMES}"),
        (lambda: Simulation().sync_pod(UID, facts(2**63 - 1)), f"started_at_ms: {2**63 - 1}: {TIMES}"),
        (lambda: Engine(starved_share=math.nan), "starved_share: NaN: must be a finite number above 0"),
        (lambda: Engine(starved_share=math.inf), "starved_share: inf: must be a finite number above 0"),
        (lambda: Engine(starved_share=-1), "starved_share: -1: must be a finite number above 0"),
        (lambda: Engine(starved_share=0), "starved_share: 0: must be a finite number above 0"),
        (lambda: Engine(semantics="strict"), 'semantics: "strict": must be one of kubelet, enhanced'),
        (lambda: Engine(starved_verdict="late"), 'starved_verdict: "late": must be one of failure, unknown'),
        (lambda: Engine(wake_slack_ns=100_000_001), "wake_slack_ns: 100000001: must be from 0 to 100000000"),
        (lambda: Engine(seed=-1), f"seed: -1: must be from 0 to {2**64 - 1}"),
        (lambda: Backoff(factor_milli=0), f"factor_milli: 0: must be from 1000 to {2**32 - 1}"),
        (lambda: Backoff(initial_ns=-1), f"initial_ns: -1: must be from 0 to {2**64 - 1}"),
        (lambda: Backoff(max_ns=-1), "max_ns: -1: must be from 0 to"),
        (lambda: CrashModel(**{**CRASHES, "initial_ns": 1}), "initial_ns: 1: must be from 1000000 to"),
        (lambda: Backoff(reset_ns=2**64), f"reset_ns: {2**64}: must be from 0 to {2**64 - 1}"),
        (lambda: TokenBucket(burst=2**32, interval_ns=1), f"burst: {2**32}: must be from 1 to {2**32 - 1}"),
        (lambda: TokenBucket(burst=0, interval_ns=1), "burst: 0: must be from 1 to"),
        (lambda: TokenBucket(burst=-1, interval_ns=1), "burst: -1: must be from 1 to"),
        (lambda: TokenBucket(burst=1, interval_ns=-1), f"interval_ns: -1: must be from 0 to {2**64 - 1}"),
        (lambda: TokenBucket(burst=1, interval_ns=1).take(0, tokens=0), f"tokens: 0: must be from 1 to {2**32 - 1}"),
        (lambda: TokenBucket(burst=1, interval_ns=1).take(-1), "now_ns: -1: must be from 0 to"),
        (lambda: TimerWheel().arm(-1, 0), f"deadline_ns: -1: must be from 0 to {2**64 - 1}"),
        (lambda: TimerWheel().arm(0, 2**63), f"token: {2**63}: must be from {-(2**63)} to {2**63 - 1}"),
        (lambda: TimerWheel().fire(2**64), f"now_ns: {2**64}: must be from 0 to"),
        (lambda: Requeue(seed=-1), f"seed: -1: must be from 0 to {2**64 - 1}"),
        (lambda: Requeue().look_again(-1, 0), f"due_ns: -1: must be from 0 to {2**64 - 1}"),
        (lambda: CrashModel(**{**CRASHES, "run_min_ns": 6}), "run_max_ns: 5: must be at least run_min_ns, which is 6"),
        (
            lambda: CrashModel(**{**CRASHES, "policy": "Maybe"}),
            'policy: "Maybe": must be one of Always, OnFailure, Never',
        ),
        (
            lambda: CrashModel(**CRASHES).restarts(count=10**9, until_ns=1),
            "count: 1000000000: must be from 0 to 10000000",
        ),
        (lambda: CrashLoad(window_ns=2**62, slot_ns=1), "must be at most 1000000 times slot_ns, which is 1"),
        (lambda: CrashLoad(window_ns=1, slot_ns=0), "slot_ns: 0: must be from 1 to"),
        (lambda: ExecEnd.exit(-1, 0, b""), f"run: -1: must be from 0 to {2**64 - 1}"),
        (lambda: ExecEnd.exit(0, 2**31, b""), f"code: {2**31}: must be from {-(2**31)} to {2**31 - 1}"),
        (lambda: _rust.attempt(b"{", "", [], ""), "EOF while parsing an object"),
        (
            lambda: _rust.attempt(b'{"tcpSocket": {"port": 1, "hots": ""}}', "", [], ""),
            "tcpSocket.hots: unknown field `hots`, expected `host` or `port`",
        ),
        (
            lambda: Simulation().define_pod(pod().replace(b"livenessProbe", b"livenesProbe")),
            "spec.containers[0].livenesProbe: unknown field `livenesProbe`, expected one of `name`, `image`, `ports`,",
        ),
        (
            lambda: Simulation().define_pod(pod(periodSecond=1)),
            "spec.containers[0].livenessProbe.periodSecond: unknown",
        ),
        (lambda: Simulation().define_pod(pod(periodSeconds="1")), "livenessProbe.periodSeconds: invalid type: string"),
        (lambda: Simulation().define_pod(b'{"metadata": {"a\\n": 1}}'), "metadata.a\\n: unknown field `a\\n`"),
        (lambda: Simulation().set_pod_status(UID, b'{"container": []}'), "container: unknown field `container`"),
        (lambda: Simulation().update_pod_status(UID, facts(redy=True)), "containers[0].redy: unknown field `redy`"),
        (lambda: Simulation().sync_pod(UID, facts(state="up")), "containers[0].state: unknown variant `up`"),
        (lambda: Simulation().script("web/app/live", b"[]"), 'key: "web/app/live": must be pod/container/type or'),
        (lambda: Simulation().script("app/liveness", b"[]"), 'key: "app/liveness": must be pod/container/type or'),
        (
            lambda: Simulation().script("web/app/liveness", b'[{"outcome": "bad"}]'),
            "[0].outcome: unknown variant `bad`, expected one of `error`, `failure`",
        ),
        (
            lambda: Backoff().decide(
                "", now_ns=0, finished_ns=0, exit_code=1, restart_policy="Always", rules=b'[{"acton": "Restart"}]'
            ),
            "[0].acton: unknown field `acton`, expected `action` or `exitCodes`",
        ),
        (lambda: _rust.attempt(b"{}", "", [("http", 2**63)], ""), f"ports: {2**63}: must be from"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert isinstance(caught.value, ProbeletError)
    assert isinstance(caught.value, ValueError)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pod_that_was_never_defined_has_an_error_of_its_own() -> None:
    with pytest.raises(UnknownPodError, match=r'^uid: "nobody": no pod with this UID was defined$'):
        Simulation().sync_pod("nobody", facts())


def test_a_file_that_is_no_journal_has_an_error_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    file.write_text("this is no journal")
    with pytest.raises(JournalError) as caught:
        _rust.read_journal(file)
    assert isinstance(caught.value, ProbeletError)
    assert isinstance(caught.value, ValueError)


def test_an_engines_clock_goes_no_further_than_its_end(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="because the clock then stands at its end"):
        engine.advance(2**63 - 1)
    engine.define_pod(pod())
    engine.sync_pod(UID, facts())
    engine.advance(100 * 365 * 86_400 * 10**9)
    assert engine.now() < 2**62
    engine.drain()


def test_the_times_that_the_api_can_write_are_taken() -> None:
    simulation = Simulation()
    simulation.define_pod(pod())
    for started_at_ms in (-62_135_596_800_000, 253_402_300_799_999):
        simulation.sync_pod(UID, facts(started_at_ms))
        simulation.run_until(simulation.now_ms + 60_000)
