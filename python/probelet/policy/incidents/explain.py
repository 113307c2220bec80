"""Finds the fewest things that explain why these pods fail and the others do not, the largest first.

A thing explains pods that fail if most pods that have it fail (``SHARE_LEAST``), if few of the others do
(``OUTSIDE_MOST`` times that share), and if chance would not do it: each failed attempt in a row of a pod is worth
``NATS``, as much as an attempt that fails by chance once in 200 times, less what it is worth that any pods of the group
could have been the ones. If pods do not fail alike, each has to be worth ``ALIKE_NATS`` more. The next round explains
what this thing has left.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import msgspec
from msgspec.structs import replace

from probelet.policy.incidents.family import CONNECTION_LEVEL, EXITED, Family, family_of
from probelet.policy.incidents.known import Known, Pod, Probe, Thing, ThingName, spot
from probelet.policy.incidents.outputs import Kind

SHARE_LEAST: Final = 0.5
OUTSIDE_MOST: Final = 0.25
WHOLE_SHARE: Final = 0.8
"""A node or a workload with this share of failing pods may have a trouble of its own, so it is no example of health."""
FAMILY_SHARE: Final = 0.8
"""The share of the failed probes that one family of causes must have if they are to count as alike."""
NATS: Final = 5.3
SURPRISE_LEAST: Final = 20.0
ALIKE_NATS: Final = 1.6
"""The worth of a pod that fails like another one: by chance it would once in five times, the number of families."""
ROLLOUT_NATS: Final = 10.6
"""A rollout a short time ago is a suspect from the start: it is worth two failed attempts."""
ROLLOUT_SHARE: Final = 0.3
"""The share of a new version's pods that must fail: its pods come one after the other, and so do their failures."""
ROLLOUT_MS: Final = 1_800_000
"""How long a rollout is a suspect."""
LATE_LEAST: Final = 0.5
"""The share of a node's attempts that must be late if the prober is at fault."""
SHARED_WORKLOADS: Final = 3
"""The least workloads of which something without a name can be shared."""
NAMED_WORKLOADS: Final = 2
"""The least workloads of which something with a name can be shared."""
NAMED_LEAST: Final = 0.6
"""Something with a name explains if it covers this share of what something without a name would."""
ROUNDS_MAX: Final = 64
"""Explanations of one look; a cluster with more troubles at once gets them at the next."""

_RANK: Final = {"target": 5, "image": 4, "rollout": 3, "workload": 2, "network": 1, "node": 0}
"""Of two things that explain as much, the more special one does; ``network`` and ``node`` are what is left."""


class Explanation(msgspec.Struct, frozen=True):
    """A thing that explains pods that fail."""

    kind: Kind
    thing: Thing | None
    """None for something that has no name."""
    pods: list[Pod]
    of: int
    """How many pods have the thing."""
    others_bad: int
    others: int
    """How many pods do not have it, and how many of these fail."""
    cause: str
    family: Family
    also: int = 0
    """Workloads among them that are not known to have the thing."""
    workloads: frozenset[str] = frozenset()
    """The workloads that share something without a name."""

    @property
    def size(self) -> int:
        """How many pods and probes it explains."""
        return sum(1 + len(pod.bad_probes()) for pod in self.pods)


@dataclass(slots=True)
class _Group:
    """The failing pods of a thing."""

    pods: list[Pod] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    weight: int = 0

    @property
    def workloads(self) -> set[str]:
        return {pod.workload for pod in self.pods}


def explain(pods: Sequence[Pod], known: Known, now: int) -> tuple[list[Explanation], list[Pod]]:
    """The explanations, and the pods that are left."""
    found: list[Explanation] = []
    left = list(pods)
    for chosen in chain(_late_nodes(left, known), _rounds(left, known, now)):
        found.append(chosen)
        taken = {pod.uid for pod in chosen.pods}
        left[:] = [pod for pod in left if pod.uid not in taken]
    return found, left


def _late_nodes(left: list[Pod], known: Known) -> Iterable[Explanation]:
    """The nodes whose prober is late. ``left`` shrinks by what each explains, its own pods alone."""
    on: dict[str, list[Pod]] = defaultdict(list)
    for pod in left:
        on[pod.node].append(pod)
    for node, here in on.items():
        late = [pod for pod in here if any(probe.family in ("timeout", "prober") for probe in pod.bad_probes())]
        starved = [pod for pod in here if any(probe.cause == "starved" for probe in pod.bad_probes())]
        is_late = known.late_share(node) >= LATE_LEAST
        members = late if is_late else starved if 2 * len(starved) > len(here) else []
        if len(members) >= 2 or sum(pod.weight for pod in members) >= 2:
            cause, family = _main_cause(probe for pod in members for probe in pod.bad_probes())
            of = known.with_thing["node", node]
            yield Explanation("prober", ("node", node), members, of, len(left) - len(members), 0, cause, family)


def _rounds(left: list[Pod], known: Known, now: int) -> Iterable[Explanation]:
    for _ in range(ROUNDS_MAX):
        chosen = _best(left, known, now) if left else None
        if chosen is None:
            return
        yield chosen


def _best(left: list[Pod], known: Known, now: int) -> Explanation | None:
    groups = _groups(left, known, now)
    totals = {sort: _total(sort, groups, known) for sort in ("node", "workload")}
    best: tuple[float, int, Explanation] | None = None
    covers = 0
    rolled: set[str] = set()
    for thing, group in groups.items():
        explanation = _judged(thing, group, left, groups, totals, known)
        if explanation is None:
            continue
        if thing[0] == "rollout":
            rolled.add(thing[1])
        # Of two things that explain as much, the better one is that without which nothing fails.
        rank = (_coverage(group) * len(group.pods) / explanation.of, _RANK[thing[0]], explanation)
        if best is None or rank[:2] > best[:2]:
            best, covers = rank, _coverage(group)
    for explanation in _corners(groups, known):
        rank = (float(len(explanation.pods)), -1, explanation)
        if best is None or rank[:2] > best[:2]:
            best, covers = rank, len(explanation.pods)
    # Several workloads with new versions that fail have that in common.
    unnamed = _unnamed(left, {thing: each for thing, each in groups.items() if thing[1] not in rolled}, known)
    if unnamed is not None:
        if best is None:
            return _its_node(unnamed, left, groups, totals, known) or unnamed
        covered = float(sum(max(1, len(pod.bad_probes())) for pod in unnamed.pods))
        is_part = best[2].kind == "workload"
        is_more = covers < NAMED_LEAST * covered and _is_one_family(unnamed.pods)
        if is_part or is_more or _is_only_a_node(best[2], unnamed, known):
            return unnamed
    if best is None:
        return None
    chosen = best[2]
    return _with_silent(chosen, left, groups, known) if chosen.thing is not None and chosen.kind == "shared" else chosen


def _coverage(group: _Group) -> int:
    """How many failed probes a group has; a container that ended is one."""
    return max(len(group.probes), len(group.pods))


def _groups(left: list[Pod], known: Known, now: int) -> dict[Thing, _Group]:
    found: dict[Thing, _Group] = defaultdict(_Group)
    for pod in left:
        bad = pod.bad_probes()
        _add(found["node", pod.node], pod, bad)
        _add(found["workload", pod.workload], pod, bad)
        facts = known.workloads[pod.workload]
        if facts.rolled_ms is not None and pod.revision == facts.revision and now - facts.rolled_ms <= ROLLOUT_MS:
            _add(found["rollout", pod.workload], pod, bad)
        for image in dict.fromkeys(probe.subject.image for probe in bad or pod.probes if probe.subject.image):
            _add(found["image", image], pod, bad)
        asking = [probe for probe in bad if probe.subject.targets]
        if asking:
            _add(found["network", pod.node], pod, asking)
            for target in dict.fromkeys(target for probe in asking for target in probe.subject.targets):
                _add(found["target", target], pod, [probe for probe in asking if target in probe.subject.targets])
    return found


def _add(group: _Group, pod: Pod, probes: list[Probe]) -> None:
    group.pods.append(pod)
    group.probes += probes
    group.weight += pod.weight


def _judged(
    thing: Thing,
    group: _Group,
    left: list[Pod],
    groups: dict[Thing, _Group],
    totals: dict[str, tuple[int, int]],
    known: Known,
    least: float = SURPRISE_LEAST,
) -> Explanation | None:
    """The explanation that a thing is, if it is one."""
    sort, name = thing
    size = _size(thing, known)
    count = len(group.pods)
    if not size or count < (ROLLOUT_SHARE if sort == "rollout" else SHARE_LEAST) * size:
        return None
    kind: Kind = "shared"
    others, others_bad = len(known.pods) - size, len(left) - count
    match sort:
        case "node" | "network":
            kind = "node"
            if len(group.workloads) < 2:
                return None
            if known.nodes > 1:
                others, others_bad = _outside("node", name, groups, totals, known)
                if not others:
                    return None
            elif count < WHOLE_SHARE * size:
                return None
        case "workload":
            kind = "workload"
            if count < 2 or _is_in_a_corner(group, size, known):
                return None
            if len(known.workloads) >= SHARED_WORKLOADS:
                others, others_bad = _outside("workload", name, groups, totals, known)
        case "rollout":
            kind = "workload"
            old, old_bad = known.workloads[name].pods - size, len(groups["workload", name].pods) - count
            if old_bad > OUTSIDE_MOST * old * count / size:
                return None
            others, others_bad = _outside("workload", name, groups, totals, known)
        case "image":
            if len(group.workloads) < NAMED_WORKLOADS or others < 2:
                return None
        case "target":
            # Each that asks may fail in its own way.
            if len(group.workloads) < NAMED_WORKLOADS:
                return None
            # A workload of which nobody knows what it asks is no example of one that does not ask this.
            silent = [each for key, each in groups.items() if key[0] == "workload" and _is_silent(key, each, known)]
            others_bad -= sum(len(each.pods) for each in silent)
            others -= sum(known.with_thing["workload", each.pods[0].workload] for each in silent)
    if others > 0 and others_bad / others > OUTSIDE_MOST * count / size:
        return None
    if sort in ("target", "image"):
        least += _unlike(group.pods)
    if _surprise(group.weight, count, size) + (ROLLOUT_NATS if sort == "rollout" else 0.0) < least:
        return None
    cause, family = _main_cause(group.probes)
    shown: Thing = ("node", name) if sort == "network" else thing
    return Explanation(kind, shown, group.pods, size, others_bad, max(others, 0), cause, family)


def _is_in_a_corner(group: _Group, size: int, known: Known) -> bool:
    """Whether the pods of a workload that fail are those of one node, and it has others."""
    nodes = {pod.node for pod in group.pods}
    return len(nodes) == 1 and len(group.pods) < size and known.nodes > 1


def _size(thing: Thing, known: Known) -> int:
    """How many pods have a thing."""
    if thing[0] == "rollout":
        return known.workloads[thing[1]].new
    return known.with_thing[thing]


def _corners(groups: dict[Thing, _Group], known: Known) -> Iterable[Explanation]:
    """The nodes where only some workloads fail, as far as they run there, and nowhere else: not all need what a node
    has lost."""
    if known.nodes < 2:
        return
    for thing, group in groups.items():
        if thing[0] != "node" or len(group.workloads) < SHARED_WORKLOADS:
            continue
        here = sum(known.with_thing[spot(thing[1], name)] for name in group.workloads)
        whole = sum(known.with_thing["workload", name] for name in group.workloads)
        elsewhere = sum(len(groups["workload", name].pods) for name in group.workloads) - len(group.pods)
        count, others = len(group.pods), whole - here
        if others < SHARED_WORKLOADS or count < WHOLE_SHARE * here or elsewhere > OUTSIDE_MOST * others * count / here:
            continue
        if _surprise(group.weight, count, known.with_thing[thing]) >= SURPRISE_LEAST:
            cause, family = _main_cause(group.probes)
            yield Explanation("node", thing, group.pods, here, elsewhere, others, cause, family)


def _total(sort: str, groups: dict[Thing, _Group], known: Known) -> tuple[int, int]:
    """The pods of the nodes, or of the workloads, that fail as a whole; and how many pods of the others fail."""
    parts = [_part(thing, group, known) for thing, group in groups.items() if thing[0] == sort]
    return sum(whole for whole, _ in parts), sum(bad for _, bad in parts)


def _part(thing: Thing, group: _Group, known: Known) -> tuple[int, int]:
    size = known.with_thing[thing]
    return (size, 0) if len(group.pods) >= WHOLE_SHARE * size else (0, len(group.pods))


def _outside(
    sort: ThingName, name: str, groups: dict[Thing, _Group], totals: dict[str, tuple[int, int]], known: Known
) -> tuple[int, int]:
    """The pods of other nodes, or of other workloads, but for those failing as a whole; and how many fail."""
    thing: Thing = (sort, name)
    group = groups.get(thing)
    own_whole, own_bad = (0, 0) if group is None else _part(thing, group, known)
    whole, bad = totals[sort]
    return len(known.pods) - known.with_thing[thing] - (whole - own_whole), bad - own_bad


def _unnamed(left: list[Pod], groups: dict[Thing, _Group], known: Known) -> Explanation | None:
    """Several workloads that fail at the same time, whatever it is that they share. Their causes may differ: of what is
    gone some are refused, others wait in vain, and a program in between says that it is not well."""
    failing = {
        thing[1]: group
        for thing, group in groups.items()
        if thing[0] == "workload" and len(group.pods) >= SHARE_LEAST * known.with_thing[thing]
    }
    if len(failing) < SHARED_WORKLOADS:
        return None
    pods = [pod for group in failing.values() for pod in group.pods]
    probes = [probe for group in failing.values() for probe in group.probes]
    size = sum(known.with_thing["workload", name] for name in failing)
    others, others_bad = len(known.pods) - size, len(left) - len(pods)
    if others and others_bad / others > OUTSIDE_MOST * len(pods) / size:
        return None
    if _surprise(sum(group.weight for group in failing.values()), len(pods), size) < SURPRISE_LEAST + _unlike(pods):
        return None
    cause, family = _main_cause(probes)
    return Explanation("shared", None, pods, size, others_bad, others, cause, family, workloads=frozenset(failing))


def _its_node(
    unnamed: Explanation,
    left: list[Pod],
    groups: dict[Thing, _Group],
    totals: dict[str, tuple[int, int]],
    known: Known,
) -> Explanation | None:
    """The one node of several on which all of these pods are, if most of its pods fail and few elsewhere. That it is no
    chance is known, and so it does not need as many failed attempts as by itself."""
    nodes = {pod.node for pod in unnamed.pods}
    if len(nodes) > 1 or known.nodes < 2:
        return None
    thing: Thing = ("node", nodes.pop())
    return _judged(thing, groups[thing], left, groups, totals, known, least=0.0)


def _is_only_a_node(best: Explanation, unnamed: Explanation, known: Known) -> bool:
    """Whether a cluster's one node explains no more than that its workloads share something: of each pod only some
    probes fail, and they reach something that answers."""
    if best.kind != "node" or known.nodes > 1 or len(unnamed.pods) < len(best.pods):
        return False
    probes = [probe for pod in best.pods for probe in pod.bad_probes()]
    if probes and sum(probe.cause in CONNECTION_LEVEL for probe in probes) >= FAMILY_SHARE * len(probes):
        return False
    able = [pod for pod in best.pods if len(_steady(pod)) > 1]
    whole = sum(len(pod.bad_probes()) == len(_steady(pod)) for pod in able)
    return not able or whole < SHARE_LEAST * len(able)


def _steady(pod: Pod) -> list[Probe]:
    """The probes that go on as long as the pod runs."""
    return [probe for probe in pod.probes if probe.subject.probe_type != "startup"]


def _with_silent(chosen: Explanation, left: list[Pod], groups: dict[Thing, _Group], known: Known) -> Explanation:
    """The explanation with the workloads that fail in the same way, and of which nobody knows what they ask."""
    taken, families = {pod.uid for pod in chosen.pods}, {_family(pod) for pod in chosen.pods}
    members, also = list(chosen.pods), 0
    for thing, group in groups.items():
        if thing[0] != "workload" or not _is_silent(thing, group, known):
            continue
        rest = [pod for pod in group.pods if pod.uid not in taken]
        if rest and all(_family(pod) in families for pod in rest):
            members += rest
            also += 1
    return replace(chosen, pods=members, also=also)


def _is_silent(thing: Thing, group: _Group, known: Known) -> bool:
    """Whether most of a workload fails, and nobody knows what it asks."""
    if len(group.pods) < SHARE_LEAST * known.with_thing[thing]:
        return False
    return all(not probe.subject.targets for pod in group.pods for probe in pod.probes)


def _family(pod: Pod) -> Family:
    return _main_cause(pod.bad_probes())[1]


def _unlike(pods: list[Pod]) -> float:
    """How much more chance has to be against pods that do not fail alike, in nats."""
    return 0.0 if _is_one_family(pods) else ALIKE_NATS * (len(pods) - 1)


def _is_one_family(pods: list[Pod]) -> bool:
    counted = Counter(probe.family for pod in pods for probe in pod.bad_probes())
    return not counted or counted.most_common(1)[0][1] >= FAMILY_SHARE * counted.total()


def _main_cause(probes: Iterable[Probe]) -> tuple[str, Family]:
    """The most frequent cause, and the most frequent family; those of a container that ended if there is none."""
    listed = list(probes)
    if not listed:
        return EXITED, family_of(EXITED)
    causes = Counter(probe.cause for probe in listed)
    families = Counter(probe.family for probe in listed)
    return causes.most_common(1)[0][0], families.most_common(1)[0][0]


def _surprise(weight: int, count: int, size: int) -> float:
    """How much chance is against it, in nats."""
    count = min(count, size)
    ways: Callable[[float], float] = math.lgamma
    return NATS * weight - (ways(size + 1) - ways(count + 1) - ways(size - count + 1))
