"""Reads the annotation of a pod for an agent, with the rules of the webhook: the annotation may be a person's."""

from collections.abc import Mapping

import msgspec

from probelet.base.printable import printable
from probelet.beside.takeover.codec import AnnotationError, decode
from probelet.beside.takeover.made import Made, of_pod
from probelet.beside.takeover.names import CONDITION, ENHANCED_LIVENESS, PROBES_ANNOTATION
from probelet.beside.takeover.rules import decoded_probe, reason_for_container, reason_for_pod
from probelet.beside.takeover.view import Entries, PodView, view
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.text.golang import go_quote


class Reading(msgspec.Struct, frozen=True):
    """The probes that the agent runs, and what is wrong with the others."""

    probes: Mapping[str, Mapping[ProbeType, Probe]]
    """By container and type, defaulted and valid; containers without any are absent."""
    problems: tuple[str, ...]
    """One line for each part of the annotation that is ignored, without the name of the pod."""
    has_gate: bool
    """The pod has the readiness gate, so its condition decides about its readiness."""
    made: Made = msgspec.field(default_factory=dict)
    """The probes in the pod's spec that the webhook made from these."""
    unprobed: frozenset[str] = frozenset()
    """The containers whose readiness nobody knows: the annotation has a readiness or startup probe of theirs, or cannot
    be read, and neither the agent nor the kubelet runs it."""


def read(text: str, pod: Pod, *, own_namespace: str) -> Reading:
    """The probes that the annotation ``text`` gives to an agent, for a pod as the API server has it.

    A part that the webhook would not have written is ignored with a problem: a probe that is still native, a liveness
    probe that belongs to enhanced liveness, all probes of a container of which a rule says that they stay native.
    """
    written = view(msgspec.to_builtins(pod))
    has_gate = written.has_gate(CONDITION)
    try:
        entries = decode(text)
    except AnnotationError as error:
        everyone = frozenset(place.name for place in written.places())
        return Reading({}, (str(error),), has_gate, unprobed=everyone)
    reason = reason_for_pod(written, pod.metadata.namespace, own_namespace)
    if reason is not None:
        problem = f"{PROBES_ANNOTATION}: the pod's probes stay native: {reason}"
        return Reading({}, (problem,), has_gate, unprobed=_unprobed(entries, written, {}))
    problems: list[str] = []
    made = of_pod(written, entries)
    own = _own_entries(entries, written.without(made), problems)
    probes = _typed(written.with_only(own), own, problems)
    if not has_gate and any(kind != "liveness" for kinds in probes.values() for kind in kinds):
        problems.append(f"the pod lacks the readiness gate {CONDITION}: its readiness does not follow these probes")
    shown = tuple(printable(problem) for problem in problems)
    return Reading(probes, shown, has_gate, made, _unprobed(entries, written, probes))


def _unprobed(entries: Entries, written: PodView, probes: Mapping[str, Mapping[ProbeType, Probe]]) -> frozenset[str]:
    unprobed = set()
    for place in written.places():
        decisive = entries.get(place.name, {}).keys() - {"liveness"} - place.container.probes.keys()
        if decisive - probes.get(place.name, {}).keys():
            unprobed.add(place.name)
    return frozenset(unprobed)


def _own_entries(entries: Entries, written: PodView, problems: list[str]) -> Entries:
    """The entries without those of containers that are unknown, of native probes, and of enhanced liveness."""
    places = {place.name: place for place in written.places()}
    is_enhanced = written.annotations.get(ENHANCED_LIVENESS) == "true"
    own: Entries = {}
    for name, probes in entries.items():
        if name not in places:
            problems.append(f"{PROBES_ANNOTATION}: the pod has no container {go_quote(name)} that may have probes")
            continue
        native = places[name].container.probes
        for kind, probe in probes.items():
            place = f"{PROBES_ANNOTATION}: {kind}Probe of container {go_quote(name)}"
            if kind in native:
                problems.append(f"{place}: the kubelet runs the one in the pod's spec")
            elif is_enhanced and kind == "liveness":
                problems.append(f"{place}: it belongs to enhanced liveness ({ENHANCED_LIVENESS})")
            else:
                own.setdefault(name, {})[kind] = probe
    return own


def _typed(pod: PodView, entries: Entries, problems: list[str]) -> dict[str, dict[ProbeType, Probe]]:
    """The entries of a pod that has only these probes, without the containers of which a rule says that they stay."""
    typed: dict[str, dict[ProbeType, Probe]] = {}
    repeated = pod.repeated_names()
    for place in pod.places():
        if place.name not in entries:
            continue
        reason = reason_for_container(pod, place, entries[place.name], repeated)
        if reason is not None:
            problems.append(f"{PROBES_ANNOTATION}: {reason.text}")
            continue
        typed[place.name] = {kind: decoded_probe(probe) for kind, probe in entries[place.name].items()}
    return typed
