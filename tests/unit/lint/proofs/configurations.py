"""Random probes for proofs: a rule's verdict beside what the simulator plays.

A proof takes ``CASES`` configurations from the seed ``FIRST`` on. ``make fuzz`` takes 10,000 new ones for each rule.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from probelet.lab.explain import Timing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import Scope
from probelet.lint.read.workload import read_workload
from probelet.lint.rule import Rule
from probelet.lint.settings import Settings
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import ProbeType
from probelet.spec.read.each_object import RawObject
from probelet.spec.read.json import encode_pod
from probelet.spec.read.kinds import KINDS
from probelet.spec.read.tree import documents

from tests.unit.lab.explain.played import Played, container, random_timings

CASES = int(os.environ.get("LINT_CASES", "200"))
FIRST = int(os.environ.get("LINT_SEED", "0"))

Timings = Mapping[ProbeType, Timing]


def configurations(*wanted: ProbeType) -> Iterator[tuple[Random, dict[ProbeType, Timing]]]:
    """Random timings of probes, and the generator for everything that the proof still chooses. The wanted types are
    there, a startup probe is not."""
    for seed in range(FIRST, FIRST + CASES):
        rng, found = Random(seed), dict[ProbeType, Timing]()
        while not set(wanted) <= found.keys():
            found |= random_timings(rng)
        found.pop("startup", None)
        yield rng, found


def hits(rule: Rule, timings: Timings, settings: Settings = Settings()) -> list[Hit]:  # noqa: B008
    """The hits of a rule in a pod with these probes."""
    own = container(timings)
    pod = Pod(api_version="v1", kind="Pod", metadata=ObjectMeta(name="p"), spec=PodSpec(containers=[own]))
    text = encode_pod(pod).decode().replace('"name":"c"', '"name":"c","image":"i"')
    (document,) = documents(text)
    read = read_workload(RawObject(document.root, "", "v1", "Pod"), KINDS["Pod"], Path("p.json"), Scope(settings))
    assert read is not None
    assert read.refused == []
    return list(rule.check(read.workload))


def lengths(rng: Random, timing: Timing) -> list[int]:
    """Attempts in milliseconds that are instant, as long as the timeout allows, or in between."""
    longest = timing.timeout * 1000 - 1
    return [rng.choice([0, longest, rng.randint(0, longest)]) for _ in range(10)]


def played(rng: Random, timings: Timings) -> Played:
    """A container that runs, with random phases of its workers."""
    ticks = {probe_type: rng.randrange(1000 * timing.period) for probe_type, timing in timings.items()}
    return Played(timings, ticks, rng.randrange(1000))


def fails_from(rng: Random, timings: Timings) -> tuple[Played, int]:
    """A container that has been ready and is failing every attempt from a moment on, which comes with it. The next ten
    minutes have been played."""
    play = played(rng, timings)
    for probe_type, timing in timings.items():
        play.answer(probe_type, "success", lengths(rng, timing))
    down = 200_000 + rng.randrange(20_000)
    play.until(down)
    for probe_type, timing in timings.items():
        play.answer(probe_type, "failure", lengths(rng, timing))
    play.until(down + 600_000)
    return play, down
