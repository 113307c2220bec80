"""The status document in words: what the table and the page write about one container."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

from probelet.base.printable import last_line

PROBE_TYPES = ("liveness", "readiness", "startup")

_WITHOUT_WORDS = {"exec_exit": "the command failed and wrote nothing"}
"""The text for a cause whose message may be empty: it is the output of a command."""

Sign = Literal["good", "failing", "bad", "recovering", "error", "pending"]


class Mark(msgspec.Struct, frozen=True):
    """One probe at a glance. ``count`` is the run of equal outcomes over its threshold, ``2/3``, or empty.

    ``good`` and ``bad`` are the published result. ``failing`` and ``recovering`` are on the way to the other result.
    ``error``: the last run ended in a prober error, which counts as no outcome. ``pending``: no run has ended yet.
    """

    sign: Sign
    count: str = ""


def probe_mark(probe: dict[str, Any]) -> Mark:
    """Derives the mark from one entry of ``probes`` in the status document."""
    last, result, run = probe["last"], probe["result"], probe["result_run"]
    if last is None or result is None:
        return Mark("pending")
    threshold = probe["failure_threshold"]
    if not succeeded(last):
        # A worker on hold counts from zero again while its container is being killed (worker.go:doProbe, 1.36).
        count = f"{threshold if probe['on_hold'] else min(run, threshold)}/{threshold}"
        if last["outcome"] == "error":
            return Mark("bad") if result == "Failure" else Mark("error")
        return Mark("bad", count) if result == "Failure" else Mark("failing", count)
    if result == "Success":
        return Mark("good")
    return Mark("recovering", f"{min(run, probe['success_threshold'])}/{probe['success_threshold']}")


def succeeded(last: dict[str, Any]) -> bool:
    """True for success and for a warning (a redirect to another host), as in the kubelet."""
    return last["outcome"] in ("success", "warning")


def state(container: dict[str, Any], as_of: datetime) -> str:
    """The state in a word or two: ``Running``, ``Stopping, 22s``, ``CrashLoopBackOff``, ``Completed``, ``Error (exit
    1)``."""
    if (until := container.get("stopping_until")) is not None and container["state"] == "running":
        return f"Stopping, {span(seconds_between(as_of, until))}"
    reason = container["reason"] or container["state"].capitalize()
    if container["state"] == "terminated" and container["exit_code"]:
        return f"{reason} (exit {container['exit_code']})"
    if container["state"] == "running" and container["started"] is False:
        return "Starting"
    return str(reason)


def restarts(container: dict[str, Any], as_of: datetime) -> str:
    """The restart count: ``3``, or ``3, next in 12s`` while a back-off runs."""
    count = str(container["restart_count"])
    if container["backoff"] is None or container["state"] == "running":
        return count
    left = seconds_between(as_of, container["backoff"]["due_at"])
    return f"{count}, next in {span(left)}" if left > 0 else f"{count}, next now"


def mistake(error: dict[str, Any]) -> str:
    """One entry of ``manifest_errors`` in a line: place, object, field and message."""
    place = f"{error['path']}:{error['line']}" if error["line"] else error["path"]
    owner = "" if error["kind"] in ("", "Pod") else f"{error['kind']} {error['name']}".rstrip()
    return ": ".join(part for part in (place, owner, error["field"], error["message"]) if part)


def more_mistakes(document: Mapping[str, Any]) -> int:
    """The number of mistakes beside the shown ones."""
    return int(document.get("manifest_errors_total", 0)) - len(document.get("manifest_errors", ()))


def open_incident(incident: Mapping[str, Any], as_of: datetime) -> str:
    """An open incident in a line: kind, what is shared, since when, evidence, kills."""
    since = span(-seconds_between(as_of, incident["since"]))
    return f"{_thing(incident)}, for {since}: {incident['evidence']}{_killed(incident)}"


def ended_incident(incident: Mapping[str, Any]) -> str:
    """An incident that is over, in a line."""
    began, ended = datetime.fromisoformat(incident["since"]), incident["ended"]
    text = f"ended: {_thing(incident)}, {began:%H:%M:%S} UTC for {span(seconds_between(began, ended))}"
    if other := incident.get("merged_into"):
        return f"{text}, part of {other}"
    return f"{text}: {incident['evidence']}{_killed(incident)}"


def _thing(incident: Mapping[str, Any]) -> str:
    """The kind and what is shared, such as ``shared target db:5432``; most kinds name what is shared themselves."""
    kind, shared, value = incident["kind"], incident["shared"], incident["value"]
    return " ".join(filter(None, (kind, "" if shared == kind else shared, value)))


def _killed(incident: Mapping[str, Any]) -> str:
    if not incident["killed"]:
        return ""
    for_nothing = incident["killed_for_nothing"]
    return f"; {incident['killed']} killed" + (f", {for_nothing} for nothing" if for_nothing else "")


def outdated(pod: dict[str, Any]) -> str | None:
    """The sentence of a pod whose newest manifest has a mistake; None for any other pod."""
    error = pod.get("manifest_error")
    return None if error is None else f"runs its earlier manifest, the newest has a mistake: {error}"


def trouble(container: dict[str, Any], as_of: datetime) -> list[str]:
    """One sentence per probe that is paused or whose last run failed, and one for a last exit the container waits or
    ended after."""
    sentences = []
    if (held := container.get("held")) is not None:
        left = span(max(0.0, seconds_between(as_of, held["until"])))
        sentences.append(f"Held: incident {held['incident']} ({held['what']}), {left} left")
    for probe_type, probe in container["probes"].items():
        if (until := probe.get("paused_until")) is not None:
            sentences.append(f"{probe_type}, paused until {datetime.fromisoformat(until):%H:%M:%S} UTC")
        last = probe["last"]
        if last is not None and not succeeded(last):
            ago = span(-seconds_between(as_of, last["at"]))
            # A failure that the prober's own lateness caused must not read as the container's fault.
            starved = ", prober starved" if last["cause"] == "starved" else ""
            why = last["message"] or _WITHOUT_WORDS.get(last["cause"], last["cause"])
            sentences.append(f"{probe_type}, {ago} ago{starved}: {why}")
    last_exit = container["last_exit"]
    if last_exit is not None and container["state"] == "waiting":
        at = last_exit["at"]
        # The runtime lost the container, so the time of its exit is unknown.
        ago = f", {span(-seconds_between(as_of, at))} ago" if at is not None else ""
        exit_text = last_line(last_exit["message"]) or last_exit["reason"]
        sentences.append(f"exit {last_exit['exit_code']}{ago}: {exit_text}")
    elif container["state"] == "terminated" and container["exit_code"] and container["message"]:
        sentences.append(f"exit {container['exit_code']}: {last_line(container['message'])}")
    return sentences


def pod_trouble(pod: dict[str, Any]) -> list[str]:
    """The sentence of a pod that waits although its containers are ready, for a condition from outside the node; that
    of a pod that stands for several of its template; and one for each part of its annotation and manifest that is
    ignored."""
    waits = [f"not ready: {pod['ready_message']}"] if pod["ready_reason"] == "ReadinessGatesNotReady" else []
    ignored = (*pod.get("problems", ()), *(line.replace(", ignored", "") for line in pod.get("misspelt", ())))
    if (pods := pod.get("stands_for", 1)) > 1:
        waits.append(f"stands for the {pods} pods that its template asks for; --replicas makes them all")
    return [*waits, *(f"ignored: {problem}" for problem in ignored)]


def foreign(pod: dict[str, Any]) -> list[str]:
    """One sentence for each port of the pod's address at which another program answers."""
    sentences = []
    for found in pod["foreign_listeners"]:
        program = f"program {found['program']} (process {found['pid']})" if found["pid"] else "another user's program"
        owner = f"pod {found['pod']}" if found["pod"] else program
        sentences.append(f"port {found['port']}: {owner} answers here, on {found['listener']}")
    return sentences


def seconds_between(start: datetime, at: str) -> float:
    """Seconds from ``start`` to the RFC 3339 time ``at``; negative if ``at`` is earlier."""
    return (datetime.fromisoformat(at) - start).total_seconds()


def span(seconds: float) -> str:
    """A length of time in at most two units: ``0s``, ``42s``, ``3m20s``, ``2h05m``, ``4d03h``."""
    whole = max(0, round(seconds))
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        return f"{days}d{hours % 24:02}h"
    if hours:
        return f"{hours}h{minutes % 60:02}m"
    if minutes:
        return f"{minutes}m{whole % 60:02}s"
    return f"{whole}s"


def milliseconds(value: float) -> str:
    """``<1ms``, ``12ms`` or ``1.5s``."""
    return "<1ms" if value < 1 else f"{value:.0f}ms" if value < 1000 else f"{value / 1000:.1f}s"
