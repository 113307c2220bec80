"""The verdict about a pod that asks for the takeover: which of its probes move, which ones the webhook makes for the
kubelet, and why others stay."""

import msgspec

from probelet.beside.takeover.fallback import FallbackError, asked, fallback_of
from probelet.beside.takeover.kept import mistake
from probelet.beside.takeover.made import startups
from probelet.beside.takeover.rules import (
    asks_for_enhanced_liveness,
    reason_for_container,
    reason_for_pod,
    wanted_probes,
)
from probelet.beside.takeover.view import Entries, PodView


class Verdict(msgspec.Struct, frozen=True):
    """The decision of the rules about a pod in which every probe is in its container."""

    moved: Entries = msgspec.field(default_factory=dict)
    """The probes for the agent, sidecars first; containers without any are absent."""
    made: Entries = msgspec.field(default_factory=dict)
    """The probes that the kubelet gets in their place."""
    reasons: tuple[str, ...] = ()
    """Why others stay native; empty if none stays that could move."""
    for_pod: bool = False
    """Nothing moves, for the one reason given."""


def stays(reason: str) -> Verdict:
    """The verdict that every probe of a pod stays native."""
    return Verdict(reasons=(reason,), for_pod=True)


def judge(pod: PodView, namespace: str, own_namespace: str, fallback_ns: int = 0) -> Verdict:
    """Decides about a pod of ``namespace``. ``own_namespace`` is that of probelet itself; ``fallback_ns`` counts for a
    pod that names no fallback, 0 for none."""
    moved: Entries = {}
    reasons = []
    repeated = pod.repeated_names()
    for place in pod.places():
        probes = wanted_probes(pod, place)
        if not probes:
            continue
        if (for_pod := reason_for_pod(pod, namespace, own_namespace)) is not None:
            return stays(for_pod)
        reason = reason_for_container(pod, place, probes, repeated)
        if reason is None:
            moved[place.name] = probes
        elif reason.for_pod:
            return stays(reason.text)
        else:
            reasons.append(reason.text)
    if moved and (wrong := mistake(pod.annotations)) is not None:
        return stays(wrong)
    try:
        made = _made(pod, moved, fallback_ns)
    except FallbackError as error:
        return stays(str(error)) if moved else Verdict(reasons=tuple(reasons))
    return Verdict(moved, made, tuple(reasons))


def _made(pod: PodView, moved: Entries, fallback_ns: int) -> Entries:
    """The probes for the kubelet. Raises FallbackError."""
    made = startups(pod, moved)
    if asks_for_enhanced_liveness(pod):
        return made
    if ns := asked(pod.annotations, fallback_ns):
        grace = pod.spec.termination_grace_period_seconds
        for name, probes in moved.items():
            if "liveness" in probes:
                made.setdefault(name, {})["liveness"] = fallback_of(probes["liveness"], ns, grace)
    return made
