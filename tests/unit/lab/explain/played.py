"""One container in the simulator, with the phase of every worker chosen: what the bounds are compared with.

Times are milliseconds from the start of the container.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
from probelet._rust import Simulation
from probelet.lab.explain import Timing
from probelet.spec.model.container import Container
from probelet.spec.model.probe import ExecAction, Probe, ProbeType
from probelet.spec.model.probe_options import FailureWindow, ProbeOptions, with_options

ID = "c://1"
HOUR = 3_600_000
TYPES: tuple[ProbeType, ...] = ("liveness", "readiness", "startup")


def probe(timing: Timing) -> Probe:
    options = ProbeOptions(
        failures=FailureWindow(of=timing.failures + timing.recovery - 1, at=timing.failures)
        if timing.recovery > 1
        else None,
        period_milliseconds=timing.own_ms,
        until_ready_milliseconds=timing.ready_ms,
        when_failing_milliseconds=timing.failing_ms,
    )
    ordinary = _ordinary(timing)
    return ordinary if options == ProbeOptions() else with_options(ordinary, options)


def _ordinary(timing: Timing) -> Probe:
    return Probe(
        exec=ExecAction(command=["x"]),
        initial_delay_seconds=timing.delay,
        period_seconds=timing.period,
        timeout_seconds=timing.timeout,
        failure_threshold=timing.failures,
        success_threshold=timing.successes,
        initialization_failure_threshold=timing.patience if timing.patience > timing.failures else 0,
    )


def container(timings: Mapping[ProbeType, Timing]) -> Container:
    probes = {f"{probe_type}_probe": probe(timing) for probe_type, timing in timings.items()}
    return Container(name="c", **probes)


def random_timings(rng: Random) -> dict[ProbeType, Timing]:
    chosen = [probe_type for probe_type in TYPES if rng.random() < 0.6] or ["liveness"]
    return {probe_type: _random_timing(rng, probe_type) for probe_type in chosen}  # type: ignore[misc]


def opted_timings(rng: Random) -> dict[ProbeType, Timing]:
    """Random timings with random options. A failureThreshold decides nothing beside a window, so it is the window's."""
    return {probe_type: _opted(rng, timing) for probe_type, timing in random_timings(rng).items()}


def _opted(rng: Random, timing: Timing) -> Timing:
    def pace() -> int | None:
        return rng.choice([None, rng.randrange(50, 1000 * timing.period)])

    return replace(timing, recovery=rng.randint(1, 5), own_ms=pace(), ready_ms=pace(), failing_ms=pace())


def _random_timing(rng: Random, probe_type: str) -> Timing:
    failures = rng.randint(1, 4)
    return Timing(
        delay=rng.choice([0, 0, rng.randint(1, 25)]),
        period=rng.randint(1, 12),
        timeout=rng.choice([1, rng.randint(1, 18)]),
        failures=failures,
        successes=rng.randint(1, 3) if probe_type == "readiness" else 1,
        patience=max(failures, rng.choice([0, rng.randint(1, 6)])),
    )


class Played:
    """A container that runs from 0 on. ``ticks`` is a moment at which each worker has a tick; ``cut`` the milliseconds
    that ``startedAt`` loses. ``begin`` is called before the container runs: a probe with options may look at once."""

    def __init__(
        self,
        timings: Mapping[ProbeType, Timing],
        ticks: Mapping[ProbeType, int],
        cut: int = 0,
        release: str = "1.36",
        *,
        begin: "Callable[[Played], None]" = lambda _: None,
    ) -> None:
        self.sim = Simulation(glue="none", kubelet_version=release)
        self._start = 1000 * (3 * max(timing.period for timing in timings.values()) + 1) + cut
        self._started_at = self._start - cut
        probes: dict[str, Probe] = {}
        begins = 0
        # AddPod starts the workers in the order startup, readiness, liveness and returns at the first that it knows: in
        # the other order each gets a phase of its own, as the jitter of a young kubelet gives it.
        for probe_type in TYPES:
            if probe_type in timings:
                period = 1000 * timings[probe_type].period
                begins += (self._start + ticks.get(probe_type, 0) - begins) % period
                probes[f"{probe_type}Probe"] = probe(timings[probe_type])
                spec = {"containers": [{"name": "c", **probes}]}
                pod = {"metadata": {"uid": "u", "name": "p", "namespace": "n"}, "spec": spec}
                self.sim.run_until(begins)
                self.sim.define_pod(msgspec.json.encode(pod))
                self.sim.add_pod("u")
                self.sim.settle()
        self.sim.run_until(self._start)
        begin(self)
        self._set(started="startup" not in timings)

    @property
    def now(self) -> int:
        return self.sim.now_ms - self._start

    def _status(self) -> bytes:
        state = {"name": "c", "id": ID, "state": "running", "started_at_ms": self._started_at}
        return json.dumps({"phase": "Running", "pod_ip": "10.0.0.1", "containers": [state]}).encode()

    def _set(self, *, started: bool) -> None:
        status = json.loads(self._status())
        status["containers"][0]["started"] = started
        self.sim.set_pod_status("u", json.dumps(status).encode())
        self.sim.settle()

    def sync(self) -> None:
        """A sync of the pod: it runs the readiness probe of a started container that is not ready."""
        self.sim.set_pod_status("u", self.sim.update_pod_status("u", self._status()))
        self.sim.settle()

    def answer(self, probe_type: ProbeType, outcome: str, lengths: Iterable[int]) -> None:
        """Attempts from now on take these times, the last of them for ever."""
        self.steps(probe_type, [(outcome, length) for length in lengths])

    def steps(self, probe_type: ProbeType, steps: Iterable[tuple[str, int]]) -> None:
        """Attempts from now on have these outcomes and take these times, the last of them for ever."""
        scripted = [{"outcome": outcome, "delay_ms": length} for outcome, length in steps]
        self.sim.script(f"p/c/{probe_type}", json.dumps(scripted).encode())

    def until(self, moment: int) -> None:
        self.sim.run_until(self._start + moment)

    def verdict(self, probe_type: ProbeType, wanted: str, limit: int = HOUR) -> int | None:
        """Plays on until the result is ``wanted``; when that was, or None if it does not come until ``limit``."""
        while (result := self.sim.result(probe_type, ID)) != wanted:
            if result == "Failure" == self.sim.result("startup", ID) or self.now >= limit:
                return None
            self.sim.run_until_update(self._start + limit, probe_type, ID)
        return self.now

    def passed(self) -> int | None:
        """Plays on until the startup probe has passed, and no sync follows; None if it has failed."""
        at = self.verdict("startup", "Success")
        if at is not None:
            self._set(started=True)
        return at

    def records(self) -> "Records":
        """What has happened since the last call."""
        return Records(json.loads(self.sim.take_records()), self._start)


class Records:
    """The simulator's records, on the clock of the container."""

    def __init__(self, lines: list[dict[str, Any]], start: int) -> None:
        self._lines, self._start = lines, start

    def first_attempt(self, probe_type: ProbeType) -> int:
        """When the first attempt that has ended began."""
        found = [line["t_ms"] for line in self._lines if line["section"] == "probes" and line["type"] == probe_type]
        return found[0] - self._start

    def verdict(self, probe_type: ProbeType, wanted: str, after: int) -> int | None:
        """When the result first became ``wanted``, from ``after`` on."""
        for line in self._lines:
            if line["section"] == "updates" and (line["type"], line["result"]) == (probe_type, wanted):
                at = line["t_ms"] - self._start
                if at >= after:
                    return int(at)
        return None
