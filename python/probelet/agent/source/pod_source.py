"""The pods of this node: from the API server, each with the annotation and definition with which it was first seen."""

from typing import Any, Final, NamedTuple, Protocol

import msgspec
import structlog
from msgspec.structs import replace

from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import PODS, FirstSeen
from probelet.base.words import listed
from probelet.beside.pods.api_pod import ApiPod, api_pod
from probelet.beside.pods.definition import definition, with_probes_of
from probelet.beside.pods.missed import why_missed
from probelet.beside.takeover.names import PROBES_ANNOTATION
from probelet.host.engine_host import EngineHost
from probelet.spec.annotation.probe_changes import PROBES_CHANGED, takes_changes
from probelet.spec.annotation.probe_options import ANNOTATION as PROBE_OPTIONS
from probelet.spec.read.json import decode_pod

PROBES_IGNORED: Final = "ProbesIgnored"
"""The reason of the event about probes with a mistake, which are ignored."""

MISTAKES_SHOWN_MAX: Final = 4
"""Mistakes that an event has."""

NOT_TAKEN_OVER: Final = "ProbesNotTakenOver"
"""The reason of the event about a pod that asks for the takeover and whose probes stay with the kubelet."""

log = structlog.get_logger("probelet.agent")


class Watched(NamedTuple):
    """A version of a pod; ``first`` is what counts from now on if this UID has not been seen before.

    A pod whose probes may change (``probelet.dev/probe-changes``) has it again when they do.
    """

    api: ApiPod
    first: FirstSeen | None
    """Of a pod that has been seen before: the probes to which it has changed, if it may change them."""
    missed: str = ""
    """Says what a pod that has not been seen before asked for in vain; empty for most."""


class Pods(Protocol):
    """The receiver of the taken-over pods."""

    def add(self, first: FirstSeen, *, is_new: bool) -> None:
        """A pod that was not there; ``is_new``: no agent of this node has seen it before."""

    def change(self, first: FirstSeen) -> tuple[str, ...]:
        """Gives a pod that is there other probes; returns the mistakes for which it keeps its own."""

    def update(self, pod: ApiPod) -> None:
        """The API server's version of a pod that is there."""

    def gone(self, uid: str) -> None:
        """The API server no longer has the pod; unknown ones are ignored."""


class PodSource:
    """Takes the changes that a ``Reflector`` of pods reports, and keeps what each pod was when it was first seen.

    Pods without the annotation are remembered too, so that an annotation that somebody adds later does not count. With
    ``probe_changes`` the annotation of a pod that asked for it from the first may change.
    """

    def __init__(
        self,
        host: EngineHost,
        files: JsonFiles[FirstSeen],
        pods: Pods,
        own_namespace: str,
        *,
        probe_changes: bool = False,
    ) -> None:
        self.changed_annotations = 0
        """Pods whose annotation was changed after they were first seen."""
        self.write_errors = 0
        """Pods whose file could not be written."""
        self._host = host
        self._files = files
        self._pods = pods
        self._own_namespace = own_namespace
        # By UID, the annotation as first seen.
        self._seen: dict[str, str | None] = {}
        # The newest version of pods whose file is being written; None if they are gone meanwhile.
        self._writing: dict[str, Watched | None] = {}
        self._warned: set[str] = set()
        self._probe_changes = probe_changes
        # The pods whose probes may change, as they are in force.
        self._live: dict[str, FirstSeen] = {}
        # By UID, the annotations of the last change that was refused.
        self._refused: dict[str, tuple[str | None, str | None]] = {}

    def load(self) -> None:
        """Adds the pods that an earlier agent of this node has seen."""
        for first in self._files.load():
            self._see(first)
            if first.annotation is not None and first.pod is not None:
                self._pods.add(first, is_new=False)

    def decode(self, found: dict[str, Any]) -> Watched | None:
        """A pod of this node. Raises an error of msgspec or SpecError for what is none."""
        pod = api_pod(found, self._host.node)
        if pod is None or pod.uid in self._seen:
            return None if pod is None else Watched(pod, self._changed(pod, found))
        kept = None
        if pod.annotation is not None:
            kept = definition(decode_pod(msgspec.json.encode(found)), pod.annotation)
        first = FirstSeen(uid=pod.uid, namespace=pod.namespace, name=pod.name, annotation=pod.annotation, pod=kept)
        return Watched(pod, first, why_missed(found, self._own_namespace))

    def changed(self, before: Watched | None, now: Watched | None) -> None:
        """A pod came, changed or is gone."""
        if now is None:
            if before is not None:
                self._gone(before.api.uid)
            return
        uid = now.api.uid
        if uid in self._writing:
            self._writing[uid] = now
        elif uid in self._seen:
            self._update(now)
        elif now.first is not None:
            self._see(now.first)
            self._writing[uid] = Watched(now.api, None)
            self._host.tasks.spawn(self._first(now.first, now.missed))

    def keep_only(self, uids: set[str]) -> None:
        """The API server has these pods and no others: what an earlier agent saw beside them is gone."""
        for uid in [uid for uid in self._seen if uid not in uids]:
            self._gone(uid)

    def forget(self, uid: str) -> None:
        """Nothing is left of a pod: its file goes."""
        for known in (self._seen, self._live, self._refused):
            known.pop(uid, None)
        self._warned.discard(uid)
        self._host.tasks.spawn(self._remove(uid))

    async def _first(self, first: FirstSeen, missed: str) -> None:
        """Writes the file of a pod before its first probe. A disk that refuses it does not stop its probes."""
        await self._keep(first)
        newest = self._writing.pop(first.uid)
        if first.annotation is not None:
            self._pods.add(first, is_new=True)
        if newest is None:
            self._gone(first.uid)
            return
        api = newest.api
        if said := api.not_taken_over or missed:
            self._host.recorder.record(api.uid, api.full_name, "Warning", NOT_TAKEN_OVER, said)
        self._update(newest)

    def _see(self, first: FirstSeen) -> None:
        self._seen[first.uid] = first.annotation
        if self._probe_changes and first.pod is not None and takes_changes(first.pod):
            self._live[first.uid] = first

    def _changed(self, pod: ApiPod, found: dict[str, Any]) -> FirstSeen | None:
        """The pod with its new probes, if it may change them and has."""
        was = self._live.get(pod.uid)
        if was is None or was.pod is None or pod.annotation is None:
            return None
        in_force = (was.annotation, was.pod.metadata.annotations.get(PROBE_OPTIONS))
        if (pod.annotation, pod.options) == in_force:
            return None
        now = definition(decode_pod(msgspec.json.encode(found)), pod.annotation)
        return replace(was, annotation=pod.annotation, pod=with_probes_of(was.pod, now))

    def _take(self, pod: ApiPod, first: FirstSeen) -> None:
        """Gives a pod its new probes, unless they have a mistake: then it keeps its own, with one event."""
        asked = (pod.annotation, pod.options)
        if self._refused.get(pod.uid) == asked:
            return
        if mistakes := self._pods.change(first):
            self._refused[pod.uid] = asked
            self.changed_annotations += 1
            said = f"{listed(mistakes, MISTAKES_SHOWN_MAX)}; the pod keeps the probes that it has"
            self._host.recorder.record(pod.uid, pod.full_name, "Warning", PROBES_IGNORED, said)
            return
        self._refused.pop(pod.uid, None)
        self._see(first)
        self._host.tasks.spawn(self._keep(first))

    def _update(self, now: Watched) -> None:
        pod = now.api
        if now.first is not None:
            self._take(pod, now.first)
        elif pod.annotation != self._seen[pod.uid] and pod.uid not in self._warned:
            self._warned.add(pod.uid)
            self.changed_annotations += 1
            said = f"{PROBES_ANNOTATION} was changed after the pod was created, and the change is ignored"
            self._host.recorder.record(pod.uid, pod.full_name, "Warning", PROBES_CHANGED, said)
        if self._seen[pod.uid] is not None:
            self._pods.update(pod)

    def _gone(self, uid: str) -> None:
        if uid in self._writing:
            self._writing[uid] = None
        elif self._seen.get(uid) is None:
            self.forget(uid)
        else:
            self._pods.gone(uid)

    async def _keep(self, first: FirstSeen) -> None:
        try:
            await self._files.put(first.uid, first)
        except OSError as error:
            self.write_errors += 1
            log.error(
                "pod cannot be written to the state directory", pod=f"{first.namespace}/{first.name}", error=str(error)
            )

    async def _remove(self, uid: str) -> None:
        try:
            await self._files.remove(uid)
        except OSError as error:
            log.error("file of a pod cannot be removed", folder=PODS, uid=uid, error=str(error))
