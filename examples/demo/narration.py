"""Describes in sentences what changed between two status documents, and the events in between.

It is pure: it reads no clock.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Narrator:
    """Reports each change once. ``grace`` is terminationGracePeriodSeconds by pod name."""

    grace: dict[str, int]
    _before: dict[str, dict[str, Any]] = field(default_factory=dict)

    def changes(self, status: dict[str, Any]) -> list[str]:
        """Returns the changes since the last status document."""
        found = []
        for pod in status["pods"]:
            container = pod["containers"][0]  # each example has one container
            before = self._before.get(pod["name"])
            found += [f"{pod['name']}: {text}" for text in _changes(before, container)]
            self._before[pod["name"]] = container
        return found

    def event(self, event: dict[str, Any]) -> str | None:
        """Returns a sentence for an event that says more than the status."""
        name = event["object"].rpartition("/")[2]
        if event["reason"] != "Killing" or "failed liveness probe" not in event["message"]:
            return None
        container = self._before.get(name)
        threshold = container["probes"]["liveness"]["failure_threshold"] if container else "?"
        grace = self.grace.get(name, 30)
        return f"{name}: liveness {threshold} of {threshold} failed, SIGTERM, grace {grace} s"


def _changes(before: dict[str, Any] | None, now: dict[str, Any]) -> list[str]:
    if before is None:
        before = {"state": "waiting", "restart_count": 0, "last_exit": None, "backoff": None, "ready": False}
        before |= {"started": False, "probes": {}, "container_id": ""}
    found = []
    restarted = now["restart_count"] > before["restart_count"]
    if now["last_exit"] and now["last_exit"] != before["last_exit"]:
        found.append(_end(now))
    if restarted:
        found.append(_restart(before, now))
    elif now["state"] == "running" and now["container_id"] != before["container_id"]:
        found.append("started")
    if now["started"] and not before["started"] and "startup" in now["probes"]:
        runs = now["probes"]["startup"]["runs"]
        found.append(f"startup probe succeeded at run {runs}, the other probes take over")
    if not restarted and now["state"] == "running" and "readiness" in now["probes"]:
        if before["ready"] and not now["ready"]:
            found.append(f"not ready, {_failures(now, 'readiness')}")
        elif now["ready"] and not before["ready"]:
            found.append("ready")
    return found


def _end(now: dict[str, Any]) -> str:
    code = now["last_exit"]["exit_code"]
    text = "ended by SIGKILL (exit code 137)" if code == 137 else f"ended with exit code {code}"
    if now["backoff"] and now["state"] != "running":
        return f"{text}, back-off {now['backoff']['delay_seconds']:g} s before restart {now['restart_count'] + 1}"
    return text


def _restart(before: dict[str, Any], now: dict[str, Any]) -> str:
    count = now["restart_count"]
    if before["backoff"] and before["state"] != "running":
        return f"restart {count}, after a back-off of {before['backoff']['delay_seconds']:g} s"
    # A killed container starts again at once if its earlier exit is longer ago than the back-off.
    return f"restart {count}, {'free' if count == 1 else 'at once'}"


def _failures(now: dict[str, Any], probe_type: str) -> str:
    probe = now["probes"][probe_type]
    message = f": {probe['last']['message']}" if probe["last"] and probe["last"]["message"] else ""
    return f"{probe_type} {probe['failure_threshold']} of {probe['failure_threshold']} failed{message}"
