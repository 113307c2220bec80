"""Open-loop replay: feeds the recorded inputs, at their times, to the production core under a virtual clock."""

import hashlib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, get_args

import msgspec
from probelet._rust import Simulation

from probelet_conformance.difference import compare
from probelet_conformance.pod import pod_object
from probelet_conformance.recording import Line, Recording, ScenarioPod, Trace

ProbeType = Literal["liveness", "readiness", "startup"]

Taken = tuple[ProbeType, str, bool]
"""An update as a status shows it: the result's type, the container's ID, and whether it is a success."""

LONG_MESSAGE = 1024
"""A recording keeps only the start and the hash of a longer message."""

KEPT_BYTES = 256

USER_AGENT = "kube-probe/."
"""The recorder's kubelet had no version stamp."""

GLUE: dict[str, ProbeType] = {"glue:SetContainerStartup": "startup", "glue:SetContainerReadiness": "readiness"}
"""Inputs that follow from a result -> the type of that result."""

CHANGED_BY = {"startup": "started", "readiness": "ready"}
"""A result's type -> the field of a container's status that the result changes."""

KUBELET_WORDS = {"Unknown": "UNKNOWN"}
"""Results print as the kubelet's results.Result does; an unknown one is in capitals."""


def play(recording: Recording, kubelet_version: str | None = None) -> Trace:
    """Replays a recording and returns probelet's trace, in the recordings' schema and canonical order.

    A variant may have other inputs than the trace, or snapshots of the workers at other times. Then each is played, and
    the trace that is nearest to a recorded one is returned. `kubelet_version` selects the rules; None is
    the release that was recorded.

    Raises:
        ValueError: the version is unknown.
    """
    recordings = [recording]
    for variant in recording.variants:
        other = msgspec.structs.replace(recording, trace=variant.trace)
        if all(_asked(other) != _asked(known) for known in recordings):
            recordings.append(other)
    played = [OpenReplay(each, kubelet_version or recording.release).play() for each in recordings]
    return min(played, key=lambda trace: len(compare(recording, trace)))


def _asked(recording: Recording) -> tuple[list[Line], list[int]]:
    """Everything in the trace that a replay depends on."""
    return recording.trace["inputs"], _looks(recording)


class OpenReplay:
    """One replay in progress."""

    def __init__(self, recording: Recording, kubelet_version: str) -> None:
        scenario = recording.scenario
        self.recording = recording
        self.pods = {pod.name: pod for pod in scenario.pods}
        self.simulation = Simulation(
            warmup_ms=scenario.warmup_ms,
            glue="none",
            sockets=True,
            user_agent=USER_AGENT,
            kubelet_version=kubelet_version,
        )
        for key, steps in scenario.scripts.items():
            self.simulation.script(key, msgspec.json.encode(steps))
        for pod in scenario.pods:
            self.simulation.define_pod(pod_object(recording, pod))
        self.trace: Trace = {name: [] for name in recording.trace}
        self.trace["effective_probes"] = recording.trace["effective_probes"]
        self.trace["inputs"] = recording.trace["inputs"]
        self.looks = _looks(recording)
        self.known: dict[tuple[str, str], Line] = {}
        self.records: list[Line] = []
        self.updates: list[tuple[int, ProbeType, str, bool]] = []

    def play(self) -> Trace:
        """Applies every batch of inputs, lets the core settle, and collects the trace."""
        for t_ms, lines in groupby(self.recording.trace["inputs"], key=itemgetter("t_ms")):
            self._look_before(t_ms)
            for _, batch in groupby(lines, key=itemgetter("batch")):
                self._apply_batch(t_ms, list(batch))
        end = self.recording.end_ms
        self._look_before(end)
        self.simulation.run_until(end)
        self._look(end)
        self._collect()
        return self.trace

    def _apply_batch(self, t_ms: int, batch: list[Line]) -> None:
        """Lets the core settle up to the batch's time, then applies the batch.

        A batch that the kubelet's glue derived from a result follows that result at once: workers that wake later in
        the same moment already see its effect.
        """
        cause = GLUE.get(batch[0]["cause"])
        if cause is None:
            self.simulation.run_until(t_ms)
        else:
            self.simulation.run_until(t_ms - 1)
            for line in batch:
                self._await_result(t_ms, cause, line)
        for line in batch:
            self._apply(line)

    def _await_result(self, t_ms: int, probe_type: ProbeType, line: Line) -> None:
        """Lets the core settle up to the result that changed `started` or `ready` of a container in this status."""
        field = CHANGED_BY[probe_type]
        for container in _containers(line):
            before = self.known.get((line["pod"], container["name"]), {})
            if container.get(field) == before.get(field):
                continue
            container_id = container.get("id", "")
            while not self._takes_update(t_ms, (probe_type, container_id, container.get(field, False))):
                if not self.simulation.run_until_update(t_ms, probe_type, container_id):
                    break

    def _takes_update(self, t_ms: int, update: Taken) -> bool:
        """Takes this update of this moment, and those of the same container before it; False if there is none."""
        self._read_records()
        self.updates = [each for each in self.updates if each[0] == t_ms]
        moments = [each[1:] for each in self.updates]
        if update not in moments:
            return False
        position = moments.index(update)
        before = [each for each in self.updates[:position] if each[1:3] != update[:2]]
        self.updates = before + self.updates[position + 1 :]
        return True

    def _read_records(self) -> None:
        for record in msgspec.json.decode(self.simulation.take_records()):
            if record["section"] == "updates":
                update = (record["type"], record["container_id"], record["result"] == "Success")
                self.updates.append((record["t_ms"], *update))
            self.records.append(record)

    def _apply(self, line: Line) -> None:
        simulation, call = self.simulation, line["call"]
        if call == "cleanup_pods":
            simulation.cleanup_pods([self.pods[name].uid for name in line.get("desired") or []])
            return
        pod = self.pods[line["pod"]]
        match call:
            case "status":
                self.known |= {(line["pod"], container["name"]): container for container in _containers(line)}
                simulation.set_pod_status(pod.uid, _status(line))
            case "no_status":
                simulation.remove_pod_status(pod.uid)
            case "add_pod":
                self._add(pod, deleting=line.get("deleting", False))
            case "remove_pod":
                simulation.remove_pod(pod.uid)
            case "stop_liveness_and_startup":
                simulation.stop_liveness_and_startup(pod.uid)
            case "set_deletion_timestamp":
                if line.get("in_place", False):
                    simulation.mark_deleting(pod.uid)
            case "update_pod_status":
                filled = msgspec.json.decode(simulation.update_pod_status(pod.uid, _status(line)))
                self.trace["statuses"].append(status_line(line, filled))
            case _:
                raise ValueError(f"inputs: call: {call!r}: not a call this version knows")

    def _add(self, pod: ScenarioPod, *, deleting: bool) -> None:
        if deleting:
            self.simulation.define_pod(pod_object(self.recording, pod, deleting=True))
        self.simulation.add_pod(pod.uid)

    def _look_before(self, t_ms: int) -> None:
        """Records the workers at the recording's snapshot times up to `t_ms`."""
        while self.looks and self.looks[0] < t_ms:
            moment = self.looks.pop(0)
            self.simulation.run_until(moment)
            self._look(moment)

    def _look(self, t_ms: int) -> None:
        workers = sorted("/".join(names) for names in self.simulation.workers())
        self.trace["workers"].append({"t_ms": t_ms, "workers": workers})

    def _collect(self) -> None:
        self._read_records()
        for record in self.records:
            section = record.pop("section")
            if section in self.trace:
                self.trace[section].append(trace_line(section, record))
        for container_id in sorted(_container_ids(self.recording)):
            for probe_type in get_args(ProbeType):
                result = self.simulation.result(probe_type, container_id)
                if result is not None:
                    line = {
                        "type": probe_type,
                        "container_id": container_id,
                        "result": KUBELET_WORDS.get(result, result),
                    }
                    self.trace["end_results"].append(line)
        self.trace["end_metrics"] = list(_metric_lines(msgspec.json.decode(self.simulation.metrics())))


def _looks(recording: Recording) -> list[int]:
    return sorted({line["t_ms"] for line in recording.trace["workers"] if line["after"] != "end"})


def _container_ids(recording: Recording) -> set[str]:
    lists = (_containers(line) for line in recording.trace["inputs"])
    return {container["id"] for containers in lists for container in containers if container.get("id")}


def _containers(line: Line) -> list[Line]:
    return [*(line.get("containers") or []), *(line.get("init_containers") or [])]


def _status(line: Line) -> bytes:
    keys = ("phase", "pod_ip", "containers", "init_containers")
    return msgspec.json.encode({key: line[key] for key in keys if line.get(key)})


def status_line(line: Line, filled: dict[str, Any]) -> Line:
    shown = ("name", "id", "state", "ready", "started")
    lists = {
        name: [{key: container[key] for key in shown if key in container} for container in filled[name]]
        for name in ("containers", "init_containers")
        if filled[name]
    }
    return {"t_ms": line["t_ms"], "cause": line["cause"], "pod": line["pod"], **lists}


def trace_line(section: str, record: Line) -> Line:
    if "result" in record:
        record["result"] = KUBELET_WORDS.get(record["result"], record["result"])
    if section in ("events", "probes"):
        # The recordings name the pod.
        del record["pod_uid"]
    if section == "probes":
        extra = record.pop("command")[4:]
        if extra:
            record["extra_args"] = extra
    if section == "events":
        raw = bytes(record.pop("raw")) if "raw" in record else record["message"].encode()
        record["message_bytes"] = len(raw)
        if len(raw) > LONG_MESSAGE:
            # Go writes one replacement character for each byte of a character that was cut.
            cut = raw[:KEPT_BYTES].decode(errors="surrogateescape")
            record["message"] = "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in cut)
            record["message_sha256"] = hashlib.sha256(raw).hexdigest()
    return record


def _metric_lines(rows: list[dict[str, Any]]) -> Iterator[Line]:
    for row in rows:
        names = {key: row[key] for key in ("container", "namespace", "pod", "probe_type")}
        if row["successful"]:
            yield {"name": "prober_probe_duration_seconds_count", "labels": names, "value": row["successful"]}
        for result in ("successful", "failed"):
            if row[result]:
                labels = {**names, "pod_uid": row["pod_uid"], "result": result}
                yield {"name": "prober_probe_total", "labels": labels, "value": row[result]}
