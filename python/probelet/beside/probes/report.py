"""The state of a probe as the node reports it, and how one state follows from another."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from probelet.beside.guard.objects.moment import nanoseconds, text
from probelet.beside.guard.objects.node_probes import LAST_ATTEMPT_FAILED, State
from probelet.beside.probes import tolerant
from probelet.beside.probes.wanted import Key
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.spec.text.duration import MILLISECOND

MESSAGE_BYTES_MAX: Final = 1024
"""Bytes of a message in the object (D-12): a node has hundreds, and the object at most 1 MiB of spec beside them."""

NOT_RUNNING: Final = "container not running"

_STATES: Final[Mapping[str, State]] = {"Success": "Succeeded", "Failure": "Failed"}


class Report(msgspec.Struct, frozen=True, gc=False):
    """A state. ``container_id`` is the instance that it is about: empty for a state that the object had before."""

    state: State
    since_ms: int
    probed_ms: int = 0
    """When the probe last ran; 0 if it has not."""
    message: str = ""
    container_id: str = ""

    def is_about(self, record: ContainerRecord) -> bool:
        """Whether the state is about this instance. One of the object is if it is not older (R-5); both times are the
        node's, in whole seconds."""
        if self.container_id:
            return self.container_id == record.id
        return self.since_ms // 1000 >= record.started_at_ms // 1000

    def is_same_state(self, other: "Report") -> bool:
        """Whether it is the same state since the same time, whatever the message."""
        return (self.state, self.since_ms // 1000) == (other.state, other.since_ms // 1000)

    def looks_like(self, other: "Report") -> bool:
        """Whether readers of the object would see the same, but for the time of the last run."""
        return self.is_same_state(other) and self.message == other.message

    @property
    def fails_now(self) -> bool:
        """Whether its last attempt failed and its state is another one: too few failures in a row, so far."""
        return self.state != "Failed" and self.message.startswith(LAST_ATTEMPT_FAILED)

    def encode(self, name: str) -> dict[str, Any]:
        """The state as the object has it, without what is empty."""
        found: dict[str, Any] = {"name": name, "state": self.state}
        if self.probed_ms:
            found["lastProbeTime"] = text(self.probed_ms * MILLISECOND)
        if self.since_ms:
            found["lastTransitionTime"] = text(self.since_ms * MILLISECOND)
        return found | ({"message": self.message} if self.message else {})


def read_reports(obj: Mapping[str, Any]) -> dict[Key, Report]:
    """The states that the object has. What is no state is left out."""
    reports: dict[Key, Report] = {}
    for entry in tolerant.items(tolerant.fields(obj.get("status")).get("podProbeStatuses")):
        for found in tolerant.items(entry.get("probeStates")):
            if found.get("state") in ("Succeeded", "Failed", "Unknown"):
                reports[tolerant.text(entry.get("uid")), tolerant.text(found.get("name"))] = Report(
                    state=found["state"],
                    since_ms=_ms(found.get("lastTransitionTime")),
                    probed_ms=_ms(found.get("lastProbeTime")),
                    message=tolerant.text(found.get("message")),
                )
    return reports


def _ms(moment: Any) -> int:
    return (nanoseconds(tolerant.text(moment)) or 0) // MILLISECOND


def unknown(before: Report | None, message: str, now_ms: int) -> Report:
    """Nobody can say: the probe cannot run, its container does not, or it has only begun to ask."""
    cut = cut_message(message)
    if before is not None and before.state == "Unknown":
        return msgspec.structs.replace(before, message=cut, container_id="")
    return Report("Unknown", now_ms, 0 if before is None else before.probed_ms, cut)


def of_running(before: Report | None, record: ContainerRecord, row: Mapping[str, Any], now_ms: int) -> Report:
    """The state of a probe whose container runs; ``row`` is its worker in ``Engine.probe_states``.

    A worker that has not decided leaves what is known about the same instance (F-4, D-16).
    """
    known = before if before is not None and before.state != "Unknown" and before.is_about(record) else None
    last = row["last"] or {}
    state = _STATES.get(row["result"])
    if state is None:
        return with_last_attempt(known or unknown(before, "", now_ms), last)
    since_ms = known.since_ms if known is not None and known.state == state else now_ms
    message = "" if known is None or known.state != state else known.message
    if last.get("outcome") in ("success", "warning") if state == "Succeeded" else last.get("outcome") == "failure":
        message = cut_message(last["message"])
    return with_last_attempt(Report(state, since_ms, last.get("at_ms", 0), message, record.id), last)


def with_last_attempt(report: Report, last: Mapping[str, Any]) -> Report:
    """The state with what the last attempt says of it, which the cluster counts before a threshold is reached."""
    outcome = last.get("outcome")
    if report.state != "Failed" and outcome == "failure":
        return msgspec.structs.replace(report, message=cut_message(LAST_ATTEMPT_FAILED + last["message"]))
    if report.fails_now and outcome in ("success", "warning"):
        return msgspec.structs.replace(report, message="")
    return report


def cut_message(message: str) -> str:
    """At most ``MESSAGE_BYTES_MAX`` bytes; no character is cut in two."""
    return message.encode("utf-8", "replace")[:MESSAGE_BYTES_MAX].decode("utf-8", "ignore")
