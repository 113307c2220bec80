"""The agent's own counters as Prometheus text. No pod, container or message is a label."""

from collections.abc import Mapping
from typing import Final

import msgspec

from probelet.base.exposition.family import counter, gauge, page
from probelet.runtime.execs.counts import ExecCounts

_NUMBERS: Final = {
    "pods": (gauge, "Pods whose probes were taken over."),
    "pods_terminating": (gauge, "Of those, pods that terminate or that the API server no longer has."),
    "pods_with_problems": (gauge, "Of those, pods with a part of the annotation that is ignored."),
    "api_up": (gauge, "Whether the newest list or watch of pods works."),
    "api_silent_seconds": (gauge, "Seconds since the API server last wrote something."),
    "runtime_up": (gauge, "Whether the runtime could be listed the last time."),
    "conditions_waiting": (gauge, "Pods whose newest condition the API server does not have yet."),
    "probes_paused": (gauge, "Probes that make no attempt because somebody paused them."),
    "kills_under_way": (gauge, "Containers that are being stopped."),
    "kills_resumed_total": (counter, "Kills of an earlier agent that this one went on with."),
    "annotation_changes_ignored_total": (counter, "Pods whose annotation changed after they were first seen."),
    "state_write_errors_total": (counter, "Pods that could not be written to the state directory."),
}
"""Every series without labels; the names are those of ``Numbers``, where ``_total`` is left out."""

_WRITES: Final = ("error", "gone", "ok")
_DROPPERS: Final = ("engine", "full_queue", "refused", "spam_filter")
_REASONS: Final = ("liveness", "recreate_request", "startup")
_ENDS: Final = ("ended", "failed", "terminating")
_RESULTS: Final = ("failed", "succeeded")


class Numbers(msgspec.Struct, frozen=True):
    """The numbers of the parts at the moment of the request."""

    pods: int
    pods_terminating: int
    pods_with_problems: int
    api_up: bool
    api_silent_seconds: float
    runtime_up: bool
    conditions_waiting: int
    probes_paused: int
    kills_under_way: int
    kills_resumed: int
    annotation_changes_ignored: int
    state_write_errors: int
    condition_writes: Mapping[str, int]
    """By how they ended."""
    kills: Mapping[tuple[str, str], int]
    """Kills that are over, by their reason and by how they ended."""
    requests: Mapping[str, int]
    """ContainerRecreateRequests that are over, by how they ended."""
    requests_open: int
    events_dropped: Mapping[str, int]
    """By what dropped them."""
    execs: ExecCounts


def render(numbers: Numbers) -> bytes:
    """The agent's part of the page ``/metrics``."""
    return page(
        *(family(f"probelet_agent_{name}", text, _number(numbers, name)) for name, (family, text) in _NUMBERS.items()),
        counter(
            "probelet_agent_condition_writes_total",
            "Writes of the condition, by how they ended.",
            ((result, numbers.condition_writes.get(result, 0)) for result in _WRITES),
            "result",
        ),
        counter(
            "probelet_agent_kills_total",
            "Kills that are over, by their reason and by how they ended.",
            (((reason, end), numbers.kills.get((reason, end), 0)) for reason in _REASONS for end in _ENDS),
            "reason",
            "end",
        ),
        gauge(
            "probelet_elp_recreate_requests_open",
            "ContainerRecreateRequests of this node that are not over.",
            numbers.requests_open,
        ),
        counter(
            "probelet_elp_recreate_requests_total",
            "ContainerRecreateRequests that this node has carried out.",
            ((result, numbers.requests.get(result, 0)) for result in _RESULTS),
            "result",
        ),
        counter(
            "probelet_agent_events_dropped_total",
            "Events that the API server does not get, by what dropped them.",
            ((by, numbers.events_dropped.get(by, 0)) for by in _DROPPERS),
            "by",
        ),
        numbers.execs.series(),
    )


def _number(numbers: Numbers, name: str) -> str:
    return f"{getattr(numbers, name.removesuffix('_total')):g}"
