"""Changes that may help against the troubles of a play: ladders of changes, the mildest rung of each first."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from probelet.lab.explain import bounds
from probelet.lab.simulate.advice.change import Change
from probelet.lab.simulate.manifests import Workload
from probelet.lab.simulate.trouble import Failures, Trouble
from probelet.spec.model.container import Container
from probelet.spec.model.probe import Probe, ProbeType

TIMEOUTS: Final = (3, 5, 10)
"""Seconds; a timeout that helps should have a margin, so 2 is not among them."""
TIMES: Final = (2, 4)
"""Factors of a failure threshold."""
STARTUP_TIMES: Final = (2, 4)
"""Factors of a start-up budget."""
MIN_READY: Final = (60, 300)
"""Seconds of minReadySeconds."""
PERIOD: Final = 10
"""Seconds of a new probe's period, the default of Kubernetes."""

RIGHT: Final = frozenset({"deadlock", "exited", "starting"})
"""Reasons for which a probe fails rightly; a start-up that is killed has a ladder of its own."""

ORDER: Final[tuple[ProbeType, ...]] = ("readiness", "liveness", "startup")

Ladder = list[Change]


def ladders(workload: Workload, trouble: Trouble, *, whole: bool) -> list[Ladder]:
    """The ladders for one workload. ``whole``: it is as it should be at the end."""
    found: list[Ladder] = []
    for target in targets(workload, trouble):
        found += target.ladders(whole=whole)
    found += list(_of_workload(workload, trouble))
    return [ladder for ladder in found if ladder]


def targets(workload: Workload, trouble: Trouble) -> Iterator["Target"]:
    """The containers of a workload with trouble."""
    for place, container in _containers(workload):
        yield Target(workload, trouble, place, container)


def _containers(workload: Workload) -> Iterator[tuple[str, Container]]:
    spec = workload.template.pod.spec
    for name, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            yield f"{workload.path}.{name}[{index}]", container


def _of_workload(workload: Workload, trouble: Trouble) -> Iterator[Ladder]:
    if workload.kind == "Deployment" and trouble.replicas == 1 and trouble.lost >= 1:
        why = "while one replica is away, the other serves"
        yield [Change("replicas", workload, "spec.replicas", "1", "2", why, {"spec.replicas": 2})]
    if workload.kind == "Deployment" and trouble.is_rolled_out:
        yield [
            Change(
                "min-ready-seconds",
                workload,
                "spec.minReadySeconds",
                "",
                str(seconds),
                "a new version must stay ready for so long before the next replica is replaced",
                {"spec.minReadySeconds": seconds},
            )
            for seconds in MIN_READY
        ]


class Target:
    """One container of a workload with trouble."""

    def __init__(self, workload: Workload, trouble: Trouble, place: str, container: Container) -> None:
        self._workload = workload
        self._trouble = trouble
        self._place = place
        self._container = container

    def ladders(self, *, whole: bool) -> Iterator[Ladder]:
        """The ladders for this container, roughly in the order in which a person would try them."""
        both: tuple[ProbeType, ...] = ("readiness", "liveness")
        bad = [each for each in both if self._hurts(each)]
        for probe_type in bad:
            yield from self._probe(probe_type)
        if len(bad) == 2:
            yield self._timeouts()
        asking = tuple(each for each in ORDER if self.failures(each).dependency is not None)
        if len(asking) > 1:
            yield self.own_path(asking)
        yield from self._startup()
        if not whole and self._container.liveness_probe is None and self._container.readiness_probe is not None:
            yield self._with_liveness()

    def _hurts(self, probe_type: ProbeType) -> bool:
        """Whether failures of this probe took replicas out or killed them."""
        key = (self._container.name, probe_type)
        if self.failures(probe_type).reason in RIGHT:
            return False
        if probe_type == "readiness":
            return bool(self._trouble.left) and key in self._trouble.failures
        return key in self._trouble.kills

    def failures(self, probe_type: ProbeType) -> Failures:
        """The failed attempts of a probe."""
        return self._trouble.failures.get((self._container.name, probe_type), Failures())

    def _probe(self, probe_type: ProbeType) -> Iterator[Ladder]:
        probe, failures = self._container.probe(probe_type), self.failures(probe_type)
        assert probe is not None
        if failures.timeouts:
            yield [
                self._field(probe_type, "timeoutSeconds", probe.timeout_seconds, seconds)
                for seconds in TIMEOUTS
                if seconds > probe.timeout_seconds
            ]
        yield [
            self._field(probe_type, "failureThreshold", probe.failure_threshold, probe.failure_threshold * times)
            for times in TIMES
        ]
        yield self.own_path((probe_type,))

    def timeout(self, probe_type: ProbeType, seconds: int) -> Change | None:
        """A longer timeout of a probe; None where it would change nothing."""
        probe = self._container.probe(probe_type)
        if probe is None or probe.timeout_seconds >= seconds or not self.failures(probe_type).timeouts:
            return None
        return self._field(probe_type, "timeoutSeconds", probe.timeout_seconds, seconds)

    def _field(self, probe_type: ProbeType, field: str, old: int, new: int) -> Change:
        path = f"{self._place}.{probe_type}Probe.{field}"
        name = "timeout_seconds" if field == "timeoutSeconds" else "failure_threshold"
        what = "a slow answer is then in time" if field == "timeoutSeconds" else "it then takes more failures in a row"
        why = f"{what}; {self._price(probe_type, {name: new})}"
        return Change(
            id=f"{probe_type}-{'timeout' if field == 'timeoutSeconds' else 'failure-threshold'}",
            workload=self._workload,
            path=path,
            old=str(old),
            new=str(new),
            why=why,
            fields={path: new},
            container=self._container.name,
        )

    def _price(self, probe_type: ProbeType, fields: dict[str, int]) -> str:
        """Returns the price of a change in words: how much later a replica that really hangs is noticed."""
        probe = self._container.probe(probe_type)
        assert probe is not None
        before, after = (
            bounds(_with(self._container, probe_type, each))[probe_type]
            for each in (probe, msgspec.structs.replace(probe, **fields))
        )
        spans = (before.to_unready, after.to_unready) if probe_type == "readiness" else (before.to_kill, after.to_kill)
        assert spans[0] is not None
        assert spans[1] is not None
        verb = "leaves its Service" if probe_type == "readiness" else "is restarted"
        return f"the price: a replica that hangs {verb} after up to {spans[1].latest} s, not {spans[0].latest} s"

    def _timeouts(self) -> Ladder:
        """Both timeouts at once, where each probe alone would leave the other's harm."""
        probes = {each: self._container.probe(each) for each in ("readiness", "liveness")}
        most = max(probe.timeout_seconds for probe in probes.values() if probe is not None)
        if not any(self.failures(each).timeouts for each in ("readiness", "liveness")):
            return []
        path = f"{self._place}.{{readinessProbe,livenessProbe}}.timeoutSeconds"
        old = {str(probe.timeout_seconds): None for probe in probes.values() if probe is not None}
        return [
            Change(
                id="both-timeouts",
                workload=self._workload,
                path=path,
                old=" and ".join(old),
                new=str(seconds),
                why="slow answers are then in time",
                fields={f"{self._place}.{each}Probe.timeoutSeconds": seconds for each in probes},
                container=self._container.name,
            )
            for seconds in TIMEOUTS
            if seconds > most
        ]

    def own_path(self, types: tuple[ProbeType, ...]) -> Ladder:
        """Probes that ask the process alone: a change of the code."""
        asked = next((name for each in types if (name := self.failures(each).dependency)), None)
        probe = self._container.probe(types[0])
        if asked is None or probe is None or probe.http_get is None:
            return []
        probes = [f"{each}Probe" for each in types]
        within = probes[0] if len(types) == 1 else f"{{{','.join(probes)}}}"
        names, verb = ", ".join(types), "says" if len(types) == 1 else "say"
        return [
            Change(
                id=f"{'-'.join(types)}-own-path",
                workload=self._workload,
                path=f"{self._place}.{within}.httpGet.path",
                old=probe.http_get.path,
                new=f"a path that does not ask {asked}",
                why=f"{names} then {verb} whether this process can work, not whether {asked} can",
                fields={},
                container=self._container.name,
                asks_less=types,
            )
        ]

    def _startup(self) -> Iterator[Ladder]:
        """A longer start-up budget, where containers were killed while they started."""
        killer: ProbeType = "liveness" if self._container.startup_probe is None else "startup"
        if (self._container.name, killer) not in self._trouble.kills:
            return
        if killer == "startup":
            probe = self._container.startup_probe
            assert probe is not None
            yield [
                self._field("startup", "failureThreshold", probe.failure_threshold, probe.failure_threshold * times)
                for times in STARTUP_TIMES
            ]
        elif self.failures("liveness").why["starting"]:
            yield [self._startup_probe(times) for times in STARTUP_TIMES]

    def _startup_probe(self, times: int) -> Change:
        probe = self._container.liveness_probe
        assert probe is not None
        budget = bounds(self._container)["liveness"].startup_budget
        assert budget is not None
        threshold = -(-budget.earliest * times // PERIOD) + 1
        path = f"{self._place}.startupProbe"
        fields: dict[str, Any] = {path: {**handler(probe), "periodSeconds": PERIOD, "failureThreshold": threshold}}
        if probe.timeout_seconds > 1:
            fields[path]["timeoutSeconds"] = probe.timeout_seconds
        if probe.initial_delay_seconds:
            fields[f"{self._place}.livenessProbe.initialDelaySeconds"] = None
        return Change(
            id="startup-probe",
            workload=self._workload,
            path=path,
            old="",
            new=f"{{periodSeconds: {PERIOD}, failureThreshold: {threshold}}}",
            why=f"the start may then take {(threshold - 1) * PERIOD} s for sure, not {budget.earliest} s, "
            "and liveness waits for it",
            fields=fields,
            container=self._container.name,
        )

    def _with_liveness(self) -> Ladder:
        probe = self._container.readiness_probe
        assert probe is not None
        path = f"{self._place}.livenessProbe"
        found = []
        for timeout in sorted({max(probe.timeout_seconds, 5), probe.timeout_seconds}, reverse=True):
            numbers = {"periodSeconds": PERIOD, "timeoutSeconds": timeout, "failureThreshold": 6}
            change = Change(
                id="liveness-probe",
                workload=self._workload,
                path=path,
                old="",
                new="{" + ", ".join(f"{name}: {value}" for name, value in numbers.items()) + "}",
                why="a restart mends it, and nothing else restarts it",
                fields={path: {**handler(probe), **numbers}},
                container=self._container.name,
            )
            found.append(change)
        return found


def handler(probe: Probe) -> dict[str, Any]:
    """The handler of a probe as a manifest has it."""
    plain = msgspec.to_builtins(probe)
    return {name: plain[name] for name in ("exec", "httpGet", "tcpSocket", "grpc") if plain.get(name) is not None}


def _with(container: Container, probe_type: ProbeType, probe: Probe) -> Container:
    return msgspec.structs.replace(container, **{f"{probe_type}_probe": probe})
