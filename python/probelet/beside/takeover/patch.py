"""The webhook's change of a pod as a JSON patch (RFC 6902), and the warnings for the person who creates the pod."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

import msgspec

from probelet.base.printable import printable
from probelet.beside.takeover.codec import ANNOTATION_BYTES_MAX, AnnotationError, decode, encode
from probelet.beside.takeover.made import encode_made, made_in, of_pod
from probelet.beside.takeover.names import CONDITION, MADE_ANNOTATION, NOT_TAKEN_OVER_ANNOTATION, PROBES_ANNOTATION
from probelet.beside.takeover.option_mistakes import option_mistakes
from probelet.beside.takeover.rules import asks_for_enhanced_liveness
from probelet.beside.takeover.verdict import Verdict, judge, stays
from probelet.beside.takeover.view import PodView, view
from probelet.spec.model.probe import PROBE_TYPES
from probelet.spec.text.golang import go_quote

WARNING_BYTES_MAX: Final = 256
"""The API server cuts a longer warning (admission/v1 ``AdmissionResponse.warnings``)."""

REASON_BYTES_MAX: Final = 1024
"""The annotation with the reasons is for people; a pod with a hundred bad containers needs no more."""

_OURS: Final = (PROBES_ANNOTATION, MADE_ANNOTATION, NOT_TAKEN_OVER_ANNOTATION)

Result: TypeAlias = Literal["taken-over", "partly", "native", "nothing"]


class Operation(TypedDict):
    """One operation of the patch."""

    op: Literal["add", "remove", "replace"]
    path: str
    value: NotRequired[Any]


class Patch(msgspec.Struct, frozen=True):
    """The answer to one pod."""

    operations: tuple[Operation, ...]
    """Empty if the pod is as it should be."""
    warnings: tuple[str, ...]
    """One line each, at most ``WARNING_BYTES_MAX`` bytes."""
    result: Result
    """``nothing``: the pod does not ask for the takeover, or has no probes."""


UNCHANGED: Final = Patch((), (), "nothing")


def patch(pod: Any, *, namespace: str, own_namespace: str, fallback_ns: int = 0) -> Patch:
    """The change of a pod that is being created in ``namespace``, as plain JSON data. ``own_namespace`` is probelet's;
    ``fallback_ns`` counts for a pod that names no fallback, 0 for none.

    Raises ViewError, one line, for an object that is no pod.
    """
    written = view(pod)
    if not written.is_managed:
        return UNCHANGED
    text = written.annotations.get(PROBES_ANNOTATION)
    try:
        entries = {} if text is None else decode(text)
    except AnnotationError as error:
        # No webhook writes such a text. Nothing can be put back, and the agent ignores the annotation as well.
        return _patch(written, written, stays(str(error)), text)
    names = {place.name for place in written.places()}
    gone = [
        f"{PROBES_ANNOTATION}: dropped {go_quote(name)}: the pod has no such container that may have probes"
        for name in entries
        if name not in names
    ]
    whole = written.without(of_pod(written, entries)).with_probes(entries)
    verdict = judge(whole, namespace, own_namespace, fallback_ns)
    text = encode(verdict.moved) if verdict.moved else None
    size = _size(whole, _annotations(whole, verdict, text))
    if verdict.moved and size > ANNOTATION_BYTES_MAX:
        verdict = stays(f"annotations of {size} bytes with its probes, more than the {ANNOTATION_BYTES_MAX} allowed")
        text = None
    return _patch(written, whole, verdict, text, [*gone, *option_mistakes(pod)])


def _annotations(pod: PodView, verdict: Verdict, text: str | None) -> dict[str, str]:
    """The pod's annotations of this package as the verdict wants them. ``text``: the annotation with the probes."""
    ours = {} if text is None else {PROBES_ANNOTATION: text}
    made = {name: frozenset(probes) for name, probes in verdict.made.items()}
    if asks_for_enhanced_liveness(pod):
        # The fallback of such a pod is that of the other webhook.
        for name, kinds in made_in(pod.annotations).items():
            made[name] = made.get(name, frozenset()) | kinds & {"liveness"}
    if any(made.values()):
        ours[MADE_ANNOTATION] = encode_made(made)
    if not verdict.reasons:
        return ours
    told = {**ours, NOT_TAKEN_OVER_ANNOTATION: _cut("; ".join(verdict.reasons), REASON_BYTES_MAX)}
    # Where the reason itself would not fit, the warning alone has it: a pod is never refused because of its reason.
    return told if verdict.moved or _size(pod, told) <= ANNOTATION_BYTES_MAX else ours


def _size(pod: PodView, ours: Mapping[str, str]) -> int:
    """Bytes of the pod's annotations with ``ours`` in the place of what it has of them, as the API server counts."""
    others = {key: value for key, value in pod.annotations.items() if key not in _OURS}
    return sum(len(key.encode()) + len(value.encode()) for key, value in {**others, **ours}.items())


def _patch(written: PodView, whole: PodView, verdict: Verdict, text: str | None, gone: Sequence[str] = ()) -> Patch:
    """The way from the pod as it is written to the one that the verdict wants. ``text`` is its annotation."""
    operations = [
        *_probe_operations(written, whole, verdict),
        *_annotation_operations(written, _annotations(written, verdict, text)),
        *_gate_operations(written, verdict),
    ]
    told = "probes stay native: " if verdict.for_pod else ""
    warnings = [_cut(f"probelet: {told}{reason}", WARNING_BYTES_MAX) for reason in (*verdict.reasons, *gone)]
    return Patch(tuple(operations), tuple(warnings), _result(verdict))


def _result(verdict: Verdict) -> Result:
    if verdict.moved:
        return "partly" if verdict.reasons else "taken-over"
    return "native" if verdict.reasons else "nothing"


def _probe_operations(written: PodView, whole: PodView, verdict: Verdict) -> Iterator[Operation]:
    """Whole and written differ only in probes, so both have the same containers in the same order."""
    for before, after in zip(written.places(), whole.places(), strict=True):
        moved, made = verdict.moved.get(after.name, {}), verdict.made.get(after.name, {})
        for kind in PROBE_TYPES:
            path = f"{before.pointer}/{kind}Probe"
            native = before.container.probes.get(kind)
            wanted = made.get(kind) if kind in moved or kind in made else after.container.probes.get(kind)
            if wanted is None and native is not None:
                yield {"op": "remove", "path": path}
            elif wanted is not None and wanted != native:
                # Adds a member, or replaces one.
                yield {"op": "add", "path": path, "value": wanted}


def _annotation_operations(written: PodView, wanted: Mapping[str, str]) -> Iterator[Operation]:
    if written.metadata.annotations is None:
        if wanted:
            yield {"op": "add", "path": "/metadata/annotations", "value": dict(wanted)}
        return
    for key in _OURS:
        path, text = f"/metadata/annotations/{key.replace('/', '~1')}", wanted.get(key)
        if text is None and key in written.annotations:
            yield {"op": "remove", "path": path}
        elif text is not None and text != written.annotations.get(key):
            yield {"op": "add", "path": path, "value": text}


def _gate_operations(written: PodView, verdict: Verdict) -> Iterator[Operation]:
    """The gate is there if a readiness probe has moved. A gate that a person wrote stays."""
    gates = written.spec.readiness_gates or []
    ours = [index for index, gate in enumerate(gates) if gate.condition_type == CONDITION]
    if any("readiness" in probes for probes in verdict.moved.values()):
        gate = {"conditionType": CONDITION}
        if not gates:
            yield {"op": "add", "path": "/spec/readinessGates", "value": [gate]}
        elif not ours:
            yield {"op": "add", "path": "/spec/readinessGates/-", "value": gate}
    elif PROBES_ANNOTATION in written.annotations:
        # An earlier call added it for probes that are native again, and no agent would ever set its condition.
        for index in reversed(ours):
            yield {"op": "remove", "path": f"/spec/readinessGates/{index}"}


def _cut(text: str, bytes_max: int) -> str:
    """Printable, because the API server drops a warning with a control character, and at most ``bytes_max`` long."""
    data = printable(text).encode()
    return data.decode() if len(data) <= bytes_max else data[: bytes_max - 3].decode(errors="ignore") + "..."
