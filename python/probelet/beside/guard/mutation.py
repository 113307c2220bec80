"""Takes the liveness probes out of a new pod and writes them into its annotation.

Source: kruise 1.9.0 pkg/webhook/pod/mutating/enhancedlivenessprobe_handler.go. Where this differs: pods of any owner,
entries that are there already are merged instead of overwritten, and probes are validated before they leave the spec.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import msgspec

from probelet.beside.guard.context.check import Native, check_context
from probelet.beside.guard.context.codec import Entry, encode
from probelet.beside.guard.names import CONTEXT, KRUISE_APPS, OPT_IN, OPTED_IN
from probelet.beside.takeover.fallback import LEAST_ENHANCED_NS, FallbackError, asked, fallback_of
from probelet.beside.takeover.made import Made, encode_made, made_in
from probelet.beside.takeover.names import MADE_ANNOTATION
from probelet.spec.text.duration import SECOND

ANNOTATIONS_BYTES_MAX: Final = 256 * 1024
"""The API server's limit for all annotations of an object (apimachinery ``TotalAnnotationSizeLimitB``, 1.36)."""

MISTAKES_MAX: Final = 10
"""Mistakes that a refusal lists; a person mends a few at a time."""

Result: TypeAlias = Literal["mutated", "unchanged", "skipped", "refused"]
"""``skipped``: the pod did not ask, or may not."""


class Options(msgspec.Struct, frozen=True):
    """``enabled``: the feature gate. ``owner_scope`` ``kruise``: only pods that a workload of OpenKruise controls, as
    OpenKruise has it. ``validate`` False takes probes as they are, as OpenKruise does. ``fallback_ns`` counts for a pod
    that names no fallback, 0 for none."""

    enabled: bool = True
    owner_scope: Literal["any", "kruise"] = "any"
    validate: bool = True
    fallback_ns: int = 0


class Mutation(msgspec.Struct, frozen=True):
    """The answer to one request. With ``refusal`` the pod is not created: HTTP status 400 and that text."""

    result: Result
    patch: Sequence[Mapping[str, Any]] = ()
    """Operations of a JSON patch (RFC 6902)."""
    warnings: Sequence[str] = ()
    refusal: str = ""


@dataclass(slots=True)
class _Taken:
    """The findings in one pod."""

    entries: dict[str, Entry] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)
    """The indices of containers whose native probe goes."""
    warnings: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


def mutate(pod: Mapping[str, Any], options: Options) -> Mutation:
    """Answers the creation of a pod. The same pod gets the same answer, also under a dry run."""
    if not options.enabled:
        return Mutation("skipped")
    annotations = pod.get("metadata", {}).get("annotations") or {}
    if annotations.get(OPT_IN) != OPTED_IN:
        return Mutation("skipped")
    if options.owner_scope == "kruise" and not _is_of_kruise(pod):
        return Mutation("skipped")
    spec = pod.get("spec") or {}
    if spec.get("restartPolicy", "Always") != "Always":
        return _left(f"restartPolicy {spec['restartPolicy']}: a container that is stopped might stay down")
    taken = _take(spec, annotations, options)
    try:
        fallback_ns = asked(annotations, options.fallback_ns, LEAST_ENHANCED_NS)
    except FallbackError as error:
        taken.mistakes.append(str(error))
    if taken.mistakes:
        return Mutation("refused", refusal=_refusal(taken.mistakes))
    text = encode([taken.entries[name] for name in _names(spec) if name in taken.entries]) if taken.entries else ""
    if not taken.removed:
        # A context without native probes was written by hand; OpenKruise leaves it as it is, too.
        return Mutation("unchanged", warnings=taken.warnings)
    names = [_names(spec)[index] for index in taken.removed]
    ours = {CONTEXT: text, **(_marked(annotations, names) if fallback_ns else {})}
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in {**annotations, **ours}.items())
    if size > ANNOTATIONS_BYTES_MAX:
        limit = f"must have at most {ANNOTATIONS_BYTES_MAX} bytes"
        return Mutation("refused", refusal=f"metadata.annotations: Too long: {size} bytes with {CONTEXT}: {limit}")
    told = f"enhanced liveness takes over the liveness probe of {', '.join(names)}; a failed probe no longer restarts"
    told += " by itself" if not fallback_ns else f" by itself within {fallback_ns // SECOND} s"
    operations = [*_probe_operations(spec, taken.removed, fallback_ns), *_annotation_operations(annotations, ours)]
    return Mutation("mutated", operations, [told, *taken.warnings])


def _is_of_kruise(pod: Mapping[str, Any]) -> bool:
    owners = pod.get("metadata", {}).get("ownerReferences") or []
    return any(
        owner.get("controller") and str(owner.get("apiVersion", "")).partition("/")[0] == KRUISE_APPS
        for owner in owners
    )


def _left(why: str) -> Mutation:
    return Mutation("skipped", warnings=[f"enhanced liveness leaves the liveness probes to the kubelet: {why}"])


def _names(spec: Mapping[str, Any]) -> list[str]:
    return [str(each.get("name", "")) for each in spec.get("containers") or []]


def _take(spec: Mapping[str, Any], annotations: Mapping[str, str], options: Options) -> _Taken:
    """Merges the annotation with the native probes. An entry of the annotation wins (W-4)."""
    taken, made = _Taken(), made_in(annotations)
    if context := annotations.get(CONTEXT, ""):
        entries, taken.mistakes = check_context(context, _names(spec), validate=options.validate)
        taken.entries = {each.name: each for each in entries}
    for index, container in enumerate(spec.get("containers") or []):
        native = container.get("livenessProbe")
        is_fallback = "liveness" in made.get(str(container.get("name", "")), ()) and _is_longer(container, taken)
        if native is not None and not is_fallback:
            _take_native(taken, index, container, options)
    for container in spec.get("initContainers") or []:
        if container.get("livenessProbe") is not None:
            why = "a ContainerRecreateRequest cannot restart it"
            taken.warnings.append(f"the sidecar {container.get('name')} keeps its liveness probe: {why}")
    return taken


def _take_native(taken: _Taken, index: int, container: Mapping[str, Any], options: Options) -> None:
    name = str(container.get("name", ""))
    if container.get("restartPolicy", "Always") != "Always" or container.get("restartPolicyRules"):
        why = "its own restart policy might leave it down"
        taken.warnings.append(f"the container {name} keeps its liveness probe: {why}")
        return
    path = f"spec.containers[{index}].livenessProbe"
    native = Native(container["livenessProbe"], path, validate=options.validate)
    if native.unknown and name not in taken.entries:
        why = f"this release does not know {native.unknown[0]}"
        taken.warnings.append(f"the container {name} keeps its liveness probe: {why}")
        return
    taken.mistakes += native.mistakes
    taken.removed.append(index)
    taken.entries.setdefault(name, Entry(name=name, liveness_probe=native.probe))


def _refusal(mistakes: list[str]) -> str:
    more = len(mistakes) - MISTAKES_MAX
    lines = mistakes[:MISTAKES_MAX] + ([f"{more} more mistakes"] if more > 0 else [])
    return "; ".join(lines)


def _is_longer(container: Mapping[str, Any], taken: _Taken) -> bool:
    """Whether the native probe is the fallback that an earlier call made of the annotation's entry."""
    entry = taken.entries.get(str(container.get("name", "")))
    threshold = (container.get("livenessProbe") or {}).get("failureThreshold", 0)
    return entry is not None and threshold > entry.liveness_probe.failure_threshold


def _marked(annotations: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The annotation that names the probes made for the kubelet, with the fallbacks of these containers."""
    made = made_in(annotations)
    more: Made = {name: frozenset((*made.get(name, ()), "liveness")) for name in names}
    return {MADE_ANNOTATION: encode_made({**made, **more})}


def _probe_operations(spec: Mapping[str, Any], indices: Sequence[int], fallback_ns: int) -> Iterator[dict[str, Any]]:
    for index in indices:
        path = f"/spec/containers/{index}/livenessProbe"
        if fallback_ns:
            grace = spec.get("terminationGracePeriodSeconds")
            longer = fallback_of(spec["containers"][index]["livenessProbe"], fallback_ns, grace)
            yield {"op": "replace", "path": path, "value": longer}
        else:
            yield {"op": "remove", "path": path}


def _annotation_operations(annotations: Mapping[str, Any], ours: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The pod has annotations: it opted in by one."""
    for key, text in ours.items():
        path = "/metadata/annotations/" + key.replace("/", "~1")
        yield {"op": "replace" if key in annotations else "add", "path": path, "value": text}
