"""The probes that the webhook makes for the kubelet from the probes that it moves, and leaves in the pod's spec.

- A startup probe made of a readiness probe. With it the kubelet itself keeps each new instance of the container out of
  the endpoints until the instance has answered once, also while there is no agent. It never kills, and costs nothing
  once the container has started.
- A liveness probe that fails for longer before it kills, the fallback (``fallback``): the pod asks for it.

An annotation names both. So the agent and a second call of the webhook tell them from a person's probes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from probelet.beside.takeover.names import MADE_ANNOTATION
from probelet.beside.takeover.view import Entries, Place, PodView
from probelet.spec.model.pod_object import RawProbe
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

Made: TypeAlias = Mapping[str, frozenset[ProbeType]]
"""The types of the made probes by container."""

NEVER: Final = 2**31 - 1
"""The largest failureThreshold that the API has. A kubelet only compares a count with it (kubelet
prober/worker.go:doProbe, 1.36), so with a period of one second it kills after 68 years."""


def startup_of(readiness: RawProbe) -> RawProbe:
    """The startup probe that a readiness probe makes. The API server allows it one success and no other number."""
    return {**readiness, "successThreshold": 1, "failureThreshold": NEVER}


def startups(pod: PodView, moved: Entries) -> Entries:
    """The startup probes for the containers whose readiness probe moves.

    A container with a startup probe of its own needs none. A sidecar gets none: the next containers would wait for it.
    Neither does a container whose liveness probe is still the kubelet's: it would wait for the first good answer of the
    readiness probe, so that a container that hangs in its start-up would live on.
    """
    longer = made_in(pod.annotations)
    made: Entries = {}
    for place in pod.places():
        native, moving = place.container.probes, moved.get(place.name, {})
        has_native_liveness = "liveness" in native and "liveness" not in moving
        is_free = not has_native_liveness or "liveness" in longer.get(place.name, ())
        if "readiness" in moving and "startup" not in native and is_free and not place.is_sidecar:
            made[place.name] = {"startup": startup_of(moving["readiness"])}
    return made


def encode_made(made: Made) -> str:
    """The annotation's text."""
    return msgspec.json.encode(
        {name: [f"{kind}Probe" for kind in PROBE_TYPES if kind in kinds] for name, kinds in made.items() if kinds}
    ).decode()


def made_in(annotations: Mapping[str, str]) -> Made:
    """The annotation of a pod. One that no webhook wrote names nothing."""
    try:
        found: Any = msgspec.json.decode(annotations.get(MADE_ANNOTATION, "{}"))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: _kinds(fields) for name, fields in found.items() if isinstance(fields, list)}


def _kinds(fields: Iterable[Any]) -> frozenset[ProbeType]:
    return frozenset(kind for kind in ("liveness", "startup") if f"{kind}Probe" in fields)


def of_pod(pod: PodView, entries: Entries) -> Made:
    """The probes in the pod's spec that the webhook made from ``entries``, the probes that moved.

    A probe whose threshold the webhook would not have written is somebody's own, whatever the annotation says.
    """
    named = made_in(pod.annotations)
    return {
        place.name: frozenset(kind for kind in named[place.name] if _is_made(place, kind, entries.get(place.name, {})))
        for place in pod.places()
        if place.name in named
    }


def _is_made(place: Place, kind: ProbeType, entries: Mapping[ProbeType, RawProbe]) -> bool:
    probe = place.container.probes.get(kind, {})
    if kind == "startup":
        return "readiness" in entries and probe.get("failureThreshold") == NEVER
    return "liveness" in entries and _threshold(probe) > _threshold(entries["liveness"])


def _threshold(probe: RawProbe) -> int:
    value = probe.get("failureThreshold")
    return value if isinstance(value, int) else 0
