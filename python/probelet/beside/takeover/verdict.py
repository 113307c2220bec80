"""The verdict about a pod that asks for the takeover: which of its probes move, and why others stay."""

from dataclasses import dataclass, field

from probelet.beside.takeover.rules import reason_for_container, reason_for_pod, wanted_probes
from probelet.beside.takeover.view import Entries, PodView
from probelet.spec.text.golang import go_quote


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the rules about a pod in which every probe is in its container."""

    moved: Entries = field(default_factory=dict)
    """The probes for the agent, sidecars first; containers without any are absent."""
    reasons: tuple[str, ...] = ()
    """Why others stay native; empty if none stays that could move."""
    for_pod: bool = False
    """Nothing moves, for the one reason given."""


def stays(reason: str) -> Verdict:
    """The verdict that every probe of a pod stays native."""
    return Verdict(reasons=(reason,), for_pod=True)


def judge(pod: PodView, namespace: str, own_namespace: str) -> Verdict:
    """Decides about a pod of ``namespace``; ``own_namespace`` is that of probelet itself."""
    moved: Entries = {}
    reasons = []
    repeated = pod.repeated_names()
    for place in pod.places():
        probes = wanted_probes(pod, place)
        if not probes:
            continue
        if (for_pod := reason_for_pod(pod, namespace, own_namespace)) is not None:
            return stays(for_pod)
        reason = reason_for_container(pod, place, repeated)
        if reason is not None and reason.for_pod:
            return stays(reason.text)
        if reason is None and "startup" in probes and len(probes) < len(place.container.probes):
            # A native liveness probe would not wait for a startup probe that has moved. Once the webhook of enhanced
            # liveness has taken the liveness probe, the API server calls this one again.
            del probes["startup"]
            text = f"container {go_quote(place.name)}: its startupProbe stays with its livenessProbe"
            reasons.append(f"{text}, which belongs to enhanced liveness")
        elif reason is not None:
            reasons.append(reason.text)
        if reason is None and probes:
            moved[place.name] = probes
    return Verdict(moved, tuple(reasons))
