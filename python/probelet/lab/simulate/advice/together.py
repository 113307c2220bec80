"""Changes of several probes at once, where each of them alone would leave the harm of the others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from probelet.lab.simulate.advice.change import Change, joined
from probelet.lab.simulate.advice.ladders import TIMEOUTS, Ladder, Target, targets
from probelet.lab.simulate.manifests import Workload
from probelet.lab.simulate.trouble import Trouble
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

Probed = tuple[Target, ProbeType]


def of_dependencies(workloads: Mapping[str, Workload], troubles: Iterable[Trouble]) -> list[Ladder]:
    """The ladders that change every probe that failed because it asks the same dependency."""
    asking: defaultdict[str, list[Probed]] = defaultdict(list)
    for trouble in troubles:
        for target in targets(workloads[trouble.workload], trouble):
            for probe_type in PROBE_TYPES:
                if (dependency := target.failures(probe_type).dependency) is not None:
                    asking[dependency].append((target, probe_type))
    found: list[Ladder] = []
    for dependency, probed in asking.items():
        found += [list(_timeouts(dependency, probed)), list(_own_paths(dependency, probed))]
    return [ladder for ladder in found if ladder]


def _timeouts(dependency: str, probed: Sequence[Probed]) -> Iterator[Change]:
    why = f"every probe that asks {dependency} then waits long enough for it"
    for seconds in TIMEOUTS:
        changes = [target.timeout(probe_type, seconds) for target, probe_type in probed]
        yield from _all("timeouts-of-dependency", changes, why)


def _own_paths(dependency: str, probed: Sequence[Probed]) -> Iterator[Change]:
    why = f"no probe then fails because of {dependency}"
    changes = [next(iter(target.own_path((probe_type,))), None) for target, probe_type in probed]
    yield from _all("own-paths-of-dependency", changes, why)


def _all(name: str, each: Iterable[Change | None], why: str) -> Iterator[Change]:
    changes = [change for change in each if change is not None]
    if len(changes) > 1:
        # The price of a longer timeout stands behind the reason of each single change.
        _, price, text = changes[0].why.partition("; the price: ")
        yield joined(name, changes, f"{why}{price}{text}")


def pairs(ladders: Sequence[Ladder]) -> Iterator[Ladder]:
    """Two changes at once, of different ladders: the mildest rung of each, and its second one where there is one. The
    ladders come in the order in which a person would try them, and so do the pairs."""
    rungs = [ladder[min(1, len(ladder) - 1)] for ladder in ladders]
    for one, other in sorted(combinations(range(len(rungs)), 2), key=sum):
        first, second = rungs[one], rungs[other]
        if _places(first).isdisjoint(_places(second)):
            yield [joined(f"{first.id}+{second.id}", (first, second), f"{first.why}; and {second.why}")]


def _places(change: Change) -> set[tuple[str, str]]:
    """The fields that a change is about; two changes of one of them are no pair."""
    return {(part.workload.object, path) for part in change.parts for path in (*part.fields, part.path)}
