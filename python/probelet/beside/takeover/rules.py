"""The rules about what stays native, for a whole pod and for a container of it.

A container's own startup probe always stays with the kubelet: with it the kubelet keeps a new instance out of the
endpoints while there is no agent, and the agent waits until the kubelet reports the container as started. Liveness and
readiness probes stay together, because a kubelet whose liveness probe waits for a startup probe that was made of the
readiness probe would not restart a container that hangs in its start-up. A pod that keeps its readiness probe native
(`kept`) gets no such startup probe.
"""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from probelet.beside.takeover.kept import keeps
from probelet.beside.takeover.names import ENHANCED_LIVENESS, MIRROR_ANNOTATION, OS_LABEL
from probelet.beside.takeover.view import Place, PodView
from probelet.spec.model.pod_object import RawProbe
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.read.json import SpecError, convert_probe
from probelet.spec.read.unknown import unknown_fields
from probelet.spec.rules.defaults import set_probe_defaults
from probelet.spec.rules.validate_probe import validate_probe
from probelet.spec.text.golang import go_quote


class Reason(NamedTuple):
    """Why a container's probes stay native."""

    text: str
    for_pod: bool
    """Every other container's probes stay as well."""


def wanted_probes(pod: PodView, place: Place) -> dict[ProbeType, RawProbe]:
    """The container's probes that the takeover is about: liveness, unless the pod asks for enhanced liveness, and
    readiness, unless the pod keeps it."""
    own = ("readiness",) if asks_for_enhanced_liveness(pod) else ("liveness", "readiness")
    probes = place.container.probes.items()
    return {kind: probe for kind, probe in probes if kind in own and not keeps(pod.annotations, kind)}


def asks_for_enhanced_liveness(pod: PodView) -> bool:
    """Its liveness probes belong to enhanced liveness."""
    return pod.annotations.get(ENHANCED_LIVENESS) == "true"


def reason_for_pod(pod: PodView, namespace: str, own_namespace: str) -> str | None:
    """Why no probe of the pod is taken over; None if nothing about the pod itself forbids it."""
    if MIRROR_ANNOTATION in pod.annotations:
        return "it is a mirror pod, whose probes a kubelet reads from a file of its node"
    system = pod.spec.os.name if pod.spec.os is not None else None
    if "windows" in (system, (pod.spec.node_selector or {}).get(OS_LABEL)):
        return "it is for Windows, and the agent runs on Linux nodes only"
    if namespace == own_namespace:
        return f"namespace {namespace} is probelet's own, whose pods must not depend on it"
    return None


def reason_for_container(
    pod: PodView, place: Place, probes: Mapping[ProbeType, RawProbe], repeated: Set[str]
) -> Reason | None:
    """Why ``probes`` of the container are not taken over, the first reason of several; None if they are.

    ``repeated``: the names that more than one container has.
    """
    name = f"container {go_quote(place.name)}"
    for kind, probe in probes.items():
        for field in unknown_fields(probe, Probe, f"{kind}Probe"):
            return Reason(f"{name}: {field} is a field that this release of probelet does not know", False)
    if place.is_sidecar and "startup" in probes:
        # Only an annotation that a person wrote has one.
        return Reason(
            f"{name}: the startupProbe of a sidecar orders the start of the next container, "
            "which only a kubelet can do",
            False,
        )
    for text in (*_hosts(place, probes), *_mistakes(place, probes, repeated), *_restarts(pod, place, probes)):
        return Reason(text, True)
    return None


def _hosts(place: Place, probes: Mapping[ProbeType, RawProbe]) -> Iterator[str]:
    for kind, probe in probes.items():
        for handler in ("httpGet", "tcpSocket"):
            action = probe.get(handler)
            host = action.get("host") if isinstance(action, dict) else None
            if host:
                path = f"{place.field}.{kind}Probe.{handler}.host"
                yield f"{path} is {go_quote(str(host))}, and an agent dials no address but the pod's own"


def _mistakes(place: Place, probes: Mapping[ProbeType, RawProbe], repeated: Set[str]) -> Iterator[str]:
    """Mistakes that make the API server refuse the pod, in its words. It would not see them in a probe that moved."""
    path = f"{place.field}.name"
    if not place.name:
        yield f"{path}: Required value"
    elif place.name in repeated:
        yield f"{path}: Duplicate value: {go_quote(place.name)}"
    for kind, raw in probes.items():
        path = f"{place.field}.{kind}Probe"
        try:
            mistakes = validate_probe(decoded_probe(raw), kind, path)
        except SpecError as error:
            yield f"{path}: {error}"
        else:
            yield from (str(mistake.shortened()) for mistake in mistakes)


def decoded_probe(raw: RawProbe) -> Probe:
    """The probe with the API server's defaults. Raises SpecError for a field of the wrong type."""
    probe = set_probe_defaults(convert_probe(raw))
    assert probe is not None
    return probe


def _restarts(pod: PodView, place: Place, probes: Mapping[ProbeType, RawProbe]) -> Iterator[str]:
    """After a failed probe a kubelet restarts a container whatever its policy, rules and exit code say. After a stop by
    the agent it sees an ordinary exit: with exit code 0 OnFailure would leave the container down.
    """
    if probes.keys() <= {"readiness"}:
        return
    policy = place.container.restart_policy or pod.spec.restart_policy or "Always"
    setting = f"restartPolicy {policy}" if policy != "Always" else "restartPolicyRules"
    if policy != "Always" or place.container.restart_policy_rules:
        yield (
            f"container {go_quote(place.name)} has {setting}: only a kubelet restarts it after a failed liveness or "
            "startup probe whatever its exit code"
        )
