"""Merges the wanted entries into a NodePodProbe as it was just read.

Law: what others wrote stays byte for byte and in its order; ours follow, sorted, so that equal wishes give equal
objects. The result depends on the object read and on the wishes alone; so after a conflict the caller reads again and
merges again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from probelet.beside.guard.mapping.entry import Digests, Entry, Reason, entry_of
from probelet.beside.guard.names import CREATED_BY_US, EXEC_DIGESTS
from probelet.beside.guard.objects.node_probes import API_VERSION, KIND
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.probe_name import Naming, was_ours
from probelet.spec.model.probe import Probe

OBJECT_BYTES_MAX: Final = 1024 * 1024
"""A NodePodProbe does not grow beyond this: etcd takes 1.5 MiB a request, and a status has to fit in, too (M-10)."""


class MergeOptions(msgspec.Struct, frozen=True):
    """``keep_empty``: an object without entries stays, as OpenKruise wants one for each node. ``trust_changes``: an
    admission policy guards the annotation, so later changes of commands are taken."""

    naming: Naming = "seed"
    keep_empty: bool = False
    trust_changes: bool = False


@dataclass(slots=True)
class Merged:
    """The action for the NodePodProbe of a node."""

    verb: Literal["create", "replace", "delete", "none"]
    body: dict[str, Any] = field(default_factory=dict)
    """The whole object for ``create`` and ``replace``; the object as it was read for ``delete``."""
    problems: dict[str, list[tuple[Reason, str]]] = field(default_factory=dict)
    """The problems for events, by the UID of the pod."""
    mapped: set[str] = field(default_factory=set)
    """The UIDs of the pods that have an entry of ours."""
    held: set[str] = field(default_factory=set)
    """The UIDs of the pods that had one in the object as it was read."""


def merge(
    node: str, current: dict[str, Any] | None, pods: Iterable[GuardedPod], known: set[str], options: MergeOptions
) -> Merged:
    """Merges the entries of ``pods``, the pods to probe on ``node``.

    ``known``: the UIDs of all live pods of the node with a context, also of pods that opted out: their digests stay.
    """
    merged = Merged("none")
    before = _digests(current)
    digests = {uid: dict(of_pod) for uid, of_pod in before.items() if uid in known}
    wanted: dict[str, dict[str, Any]] = {}
    for pod in sorted(pods, key=lambda each: (each.namespace, each.name, each.uid)):
        entry = entry_of(pod, options.naming, None if options.trust_changes else before.get(pod.uid))
        _record(merged, pod.uid, entry)
        if entry.digests is not None:
            digests[pod.uid] = entry.digests
        if entry.body is not None:
            wanted[pod.uid] = entry.body
    old = _entries(current)
    merged.held = {
        entry.get("uid", "") for entry in old if any(_is_ours(entry, probe) for probe in entry.get("probes") or ())
    }
    entries = _joined(old, wanted, merged)
    if _canonical(entries) == _canonical(old) and (current is not None or not entries) and digests == before:
        merged.verb = "none"
    elif current is None:
        merged.verb = "create" if entries else "none"
    else:
        merged.verb = "replace"
    if merged.verb in ("create", "replace"):
        merged.body = _object(node, current, entries, digests)
    if current is not None and not entries and not digests and _may_delete(current, options):
        merged.verb, merged.body = "delete", current
    return merged


def _record(merged: Merged, uid: str, entry: Entry) -> None:
    if entry.problems:
        merged.problems[uid] = entry.problems
    if entry.body is not None:
        merged.mapped.add(uid)


def _may_delete(current: dict[str, Any], options: MergeOptions) -> bool:
    """Whether an object without entries and digests goes. The caller sends its UID and version along."""
    return not options.keep_empty and CREATED_BY_US in (current["metadata"].get("annotations") or {})


def _entries(current: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if current is None else (current.get("spec") or {}).get("podProbes") or []


def _digests(current: dict[str, Any] | None) -> Mapping[str, Digests]:
    if current is None:
        return {}
    text = (current["metadata"].get("annotations") or {}).get(EXEC_DIGESTS, "{}")
    try:
        return msgspec.json.decode(text, type=dict[str, dict[str, str]])
    except msgspec.DecodeError:
        return {}


def _joined(old: list[dict[str, Any]], wanted: dict[str, dict[str, Any]], merged: Merged) -> list[dict[str, Any]]:
    """The foreign entries first, ours after them; an entry with probes of both counts as foreign."""
    foreign: list[dict[str, Any]] = []
    left = dict(wanted)
    room = OBJECT_BYTES_MAX
    for entry in old:
        others = [probe for probe in entry.get("probes") or [] if not _is_ours(entry, probe)]
        if not others and entry.get("probes"):
            continue
        mine = left.pop(entry.get("uid", ""), None)
        kept = {**entry, "probes": others} if others else entry
        if mine is not None:
            kept = {**kept, "IP": mine["IP"], "probes": [*others, *mine["probes"]]}
        foreign.append(kept)
        room -= len(msgspec.json.encode(kept))
    return [*foreign, *_fitting(old, left, room, merged)]


def _fitting(
    old: list[dict[str, Any]], wanted: dict[str, dict[str, Any]], room: int, merged: Merged
) -> Iterator[dict[str, Any]]:
    """Our entries as far as there is room, sorted. Entries that were there before have the first claim."""
    present = {entry.get("uid"): entry for entry in old}
    chosen: dict[str, dict[str, Any]] = {}
    for uid in sorted(wanted, key=lambda each: each not in present):
        for candidate in (wanted[uid], present.get(uid)):
            size = 0 if candidate is None else len(msgspec.json.encode(candidate))
            if candidate is not None and size <= room:
                chosen[uid] = candidate
                room -= size
                break
        if chosen.get(uid) is not wanted[uid]:
            text = f"the NodePodProbe of the node would grow beyond {OBJECT_BYTES_MAX} bytes"
            merged.problems.setdefault(uid, []).append(("ELPSizeLimit", text))
        if uid not in chosen:
            merged.mapped.discard(uid)
    return (chosen[uid] for uid in wanted if uid in chosen)


def _is_ours(entry: dict[str, Any], probe: dict[str, Any]) -> bool:
    return was_ours(entry.get("name", ""), probe.get("containerName", ""), probe.get("name", ""))


def _canonical(entries: list[dict[str, Any]]) -> list[Any]:
    """Entries for a comparison: a Go program that writes the object drops zero values, which means the same."""
    return [{**entry, "probes": [_canonical_probe(probe) for probe in entry.get("probes") or []]} for entry in entries]


def _canonical_probe(probe: dict[str, Any]) -> Any:
    try:
        return {**probe, "probe": msgspec.convert(probe.get("probe") or {}, Probe)}
    except msgspec.ValidationError:
        return probe


def _object(
    node: str, current: dict[str, Any] | None, entries: list[dict[str, Any]], digests: Mapping[str, Digests]
) -> dict[str, Any]:
    written = msgspec.json.encode(digests, order="sorted").decode()
    if current is None:
        annotations = {CREATED_BY_US: "true", EXEC_DIGESTS: written}
        metadata: dict[str, Any] = {"name": node, "annotations": annotations}
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": {"podProbes": entries}}
    annotations = {**(current["metadata"].get("annotations") or {}), EXEC_DIGESTS: written}
    metadata = {**current["metadata"], "annotations": annotations}
    return {**current, "metadata": metadata, "spec": {**(current.get("spec") or {}), "podProbes": entries}}
