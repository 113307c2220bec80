"""Observations in a recording of the flight recorder (``flightRecorder``): what happened, and when."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from probelet.lab.recording import Life, Recording, Result, Seen
from probelet.lab.whatif.outages import NEVER, first_ready, outages
from probelet.lint.observed.calm import Part, calm
from probelet.lint.observed.container import ObservedContainer, ObservedProbe, Run, Start
from probelet.lint.observed.outage import Outage, is_flapping
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

_SECOND: Final = 1_000_000


class _Pod(NamedTuple):
    namespace: str
    name: str
    uid: str


def observed_by_recording(recording: Recording) -> Iterator[ObservedContainer]:
    """The containers, each with what all stretches say of it."""
    parts: defaultdict[_Pod, list[Part]] = defaultdict(list)
    for stretch_number, stretch in enumerate(recording.stretches):
        for number, log in enumerate(stretch.pods):
            parts[_Pod(log.namespace, log.name, log.uid)].append(Part(stretch_number, number, stretch, log))
    for pod, found in parts.items():
        for name in dict.fromkeys(each.name for part in found for each in part.pod.containers):
            yield _container(recording, pod, name, found)


def _container(recording: Recording, pod: _Pod, name: str, parts: list[Part]) -> ObservedContainer:
    lives = _lives(name, parts)
    killed = {kill.container_id for part in parts for kill in part.pod.kills}
    results = [result for part in parts for result in part.pod.results]
    until = parts[-1].stretch.to_us
    span = sum(part.stretch.to_us - part.pod.from_us for part in parts) / _SECOND
    probes: dict[ProbeType, ObservedProbe] = {}
    for probe_type in PROBE_TYPES:
        seen = [each for part in parts if (each := _seen(part, name, probe_type)) is not None]
        if seen:
            probes[probe_type] = _probe(seen, _last(results, probe_type, lives))
    if "readiness" in probes:
        found = _outages(results, lives, parts)
        least = calm(recording, parts, name, lives) if is_flapping(found, span) else None
        probes["readiness"] = replace(probes["readiness"], outages=found, calm=least)
    last = lives[-1] if lives else None
    return ObservedContainer(
        namespace=pod.namespace,
        pod=pod.name,
        name=name,
        probes=probes,
        restarts=max(len(lives) - 1, 0),
        span=span,
        is_waiting=last is not None and last.ended_us is not None and last.container_id in killed,
        age=(until - last.ran_us) / _SECOND if last is not None and last.ran_us and last.ended_us is None else None,
        starts=tuple(_starts(results, lives, parts, "startup" in probes)),
        image=_image(name, parts),
        lives=tuple(_run(life, life.container_id in killed) for life in lives if life.ran_us is not None),
    )


def _image(name: str, parts: list[Part]) -> str:
    """The image of a container; empty if there were several, because what was seen is not known by image."""
    found = {image for part in parts for each in part.pod.containers if each.name == name for image in each.images}
    return found.pop() if len(found) == 1 else ""


def _lives(name: str, parts: list[Part]) -> list[Life]:
    """The lives of a container in their order; one that several stretches have is one life."""
    found: dict[str, Life] = {}
    for life in (life for part in parts for life in part.pod.lives if life.container == name):
        before = found.get(life.container_id)
        ran_us = life.ran_us if before is None or before.ran_us is None else before.ran_us
        found[life.container_id] = Life(life.container_id, name, ran_us, life.ended_us, life.exit_code)
    return sorted(found.values(), key=lambda life: life.ran_us or life.ended_us or 0)


def _run(life: Life, killed: bool) -> Run:
    ended = None if life.ended_us is None else life.ended_us / _SECOND
    return Run((life.ran_us or 0) / _SECOND, ended, killed)


def _seen(part: Part, name: str, probe_type: ProbeType) -> Seen | None:
    return next((each.seen.get(probe_type) for each in part.pod.containers if each.name == name), None)


def _probe(seen: list[Seen], last: Result | None) -> ObservedProbe:
    attempts = sum(each.attempts for each in seen)
    return ObservedProbe(
        runs=attempts,
        failures=sum(each.failures for each in seen),
        errors=sum(each.errors for each in seen),
        starved=sum(each.starved for each in seen),
        result="" if last is None else last.result,
        cause="" if last is None else last.cause or "",
        slow=max(each.slow_us for each in seen) / _SECOND,
        mean=sum(each.total_us for each in seen) / max(attempts, 1) / _SECOND,
        attempts=attempts,
        lateness=max(each.late_us for each in seen) / _SECOND,
    )


def _last(results: Sequence[Result], probe_type: ProbeType, lives: list[Life]) -> Result | None:
    """The result in force at the end, of the container that runs then."""
    if not lives or lives[-1].ended_us is not None:
        return None
    own = lives[-1].container_id
    found = [each for each in results if each.type == probe_type and each.container_id == own]
    return found[-1] if found else None


def _outages(results: Sequence[Result], lives: list[Life], parts: list[Part]) -> tuple[Outage, ...]:
    causes = {(each.container_id, each.at_us): each.cause or "" for each in results if each.type == "readiness"}
    return tuple(
        Outage(
            outage.from_us / _SECOND,
            None if outage.to_us is None else outage.to_us / _SECOND,
            causes.get((life.container_id, outage.from_us), ""),
        )
        for part in parts
        for life in lives
        for outage in outages(part.pod.results, life, part.stretch.to_us)
    )


def _starts(results: Sequence[Result], lives: list[Life], parts: list[Part], has_startup: bool) -> Iterator[Start]:
    """The starts of which beginning and end are in the recording."""
    began = {part.pod.from_us for part in parts}
    for life in lives:
        # A container that ran when the log began has that moment in place of its start.
        if life.ran_us is None or life.ran_us in began:
            continue
        up = _first_started(results, life) if has_startup else first_ready(results, life, NEVER)
        if up is not None and up >= life.ran_us:
            yield Start(life.ran_us / _SECOND, (up - life.ran_us) / _SECOND)


def _first_started(results: Sequence[Result], life: Life) -> int | None:
    found = (each for each in results if each.type == "startup" and each.container_id == life.container_id)
    return next((each.at_us for each in found if each.result == "Success"), None)
