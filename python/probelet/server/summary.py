"""The status document in a person's words: what the table and the page say about one container."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

PROBE_TYPES = ("liveness", "readiness", "startup")

Sign = Literal["good", "failing", "bad", "recovering", "error", "pending"]


@dataclass(frozen=True)
class Mark:
    """One probe at a glance. ``count`` is how far a run of equal outcomes has come, ``2/3``, or empty.

    ``good`` and ``bad`` are the published result; ``failing`` and ``recovering`` are on the way to the other one;
    ``error`` could not be asked the last time, which counts for nothing; ``pending`` has not run yet.
    """

    sign: Sign
    count: str = ""


def probe_mark(probe: dict[str, Any]) -> Mark:
    """How a probe stands, from one entry of ``probes`` in the status document."""
    last, result, run = probe["last"], probe["result"], probe["result_run"]
    if last is None or result is None:
        return Mark("pending")
    threshold = probe["failure_threshold"]
    if not succeeded(last):
        # A worker on hold has begun to count anew: its container is being killed (worker.go:doProbe, 1.36).
        count = f"{threshold if probe['on_hold'] else min(run, threshold)}/{threshold}"
        if last["outcome"] == "error":
            return Mark("bad") if result == "Failure" else Mark("error")
        return Mark("bad", count) if result == "Failure" else Mark("failing", count)
    if result == "Success":
        return Mark("good")
    return Mark("recovering", f"{min(run, probe['success_threshold'])}/{probe['success_threshold']}")


def succeeded(last: dict[str, Any]) -> bool:
    """Whether a run counts as success: a warning (a redirect to another host) does, as in the kubelet."""
    return last["outcome"] in ("success", "warning")


def state(container: dict[str, Any]) -> str:
    """``Running``, ``CrashLoopBackOff``, ``Completed``, ``Error (exit 1)``."""
    reason = container["reason"] or container["state"].capitalize()
    if container["state"] == "terminated" and container["exit_code"]:
        return f"{reason} (exit {container['exit_code']})"
    if container["state"] == "running" and container["started"] is False:
        return "Starting"
    return str(reason)


def restarts(container: dict[str, Any], as_of: datetime) -> str:
    """``3``, or ``3, next in 12s`` while a back-off runs."""
    count = str(container["restart_count"])
    if container["backoff"] is None or container["state"] == "running":
        return count
    left = seconds_between(as_of, container["backoff"]["due_at"])
    return f"{count}, next in {span(left)}" if left > 0 else f"{count}, next now"


def trouble(container: dict[str, Any], as_of: datetime) -> list[str]:
    """One sentence for each probe whose last run failed, and for the exit that a container comes from or ended in."""
    said = []
    for probe_type, probe in container["probes"].items():
        last = probe["last"]
        if last is not None and not succeeded(last):
            ago = span(-seconds_between(as_of, last["at"]))
            # What the prober's own lateness brought about must not read as the container's fault.
            starved = ", prober starved" if last["cause"] == "starved" else ""
            said.append(f"{probe_type}, {ago} ago{starved}: {last['message'] or last['cause']}")
    last_exit = container["last_exit"]
    if last_exit is not None and container["state"] == "waiting":
        at = last_exit["at"]
        # Nobody saw the end of a container that the runtime has lost.
        ago = f", {span(-seconds_between(as_of, at))} ago" if at is not None else ""
        said.append(f"exit {last_exit['exit_code']}{ago}: {last_line(last_exit['message']) or last_exit['reason']}")
    elif container["state"] == "terminated" and container["exit_code"] and container["message"]:
        said.append(f"exit {container['exit_code']}: {last_line(container['message'])}")
    return said


def last_line(message: str) -> str:
    """What a container said last, of a message that holds the end of its log; nothing in it that a terminal obeys."""
    line = message.rstrip().rpartition("\n")[2]
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)


def seconds_between(start: datetime, at: str) -> float:
    """Seconds from ``start`` to an RFC 3339 time; negative when that lies before it."""
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
