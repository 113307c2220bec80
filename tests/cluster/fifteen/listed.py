"""The rows of docs/cluster/agent.md that the comparison meets, by their anchors, and what exactly each explains."""

import re
from itertools import groupby
from typing import Any

from tests.cluster.fifteen.pods import RESTARTED
from tests.kubelet.beside.verdict.forget import (
    DELAYS,
    LATE,
    MORE,
    MORE_MAX,
    NOTHING,
    Pair,
    alike_without,
    are_rests,
    first_later,
    if_true,
    later,
    only_probelet,
)
from tests.kubelet.beside.verdict.listed import Listed

EARLY_SECONDS = 0.5
LOOK_SECONDS = 2.0
"""A kubelet's worker looks at the runtime again within this time (pkg/kubelet/pod_workers.go:podWorkerLoop, 1.36)."""


def wakes(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Waits in back-off: the kubelet of both sides is one, and each of its waits may end up to half a delay late."""
    more = min(MORE_MAX, MORE * pace)
    both = isinstance(kubelet, list) and isinstance(probelet, list)
    is_late = both and all(are_rests(waits, LATE, more) for waits in (kubelet, probelet))
    return NOTHING if is_late else (kubelet, probelet)


def waits_like_a_crash(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Of our side each wait is the delay after that many crashes; a kubelet's own kill has one more without a delay."""
    more = min(MORE_MAX, MORE * pace)
    if not isinstance(kubelet, list) or not isinstance(probelet, list):
        return kubelet, probelet
    pairs = zip(probelet, DELAYS, strict=False)
    is_crash = all(delay - EARLY_SECONDS <= wait <= delay * LATE + more for wait, delay in pairs)
    return NOTHING if is_crash and are_rests(kubelet, LATE, more) else (kubelet, probelet)


def without_startup_attempt(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Numbers of attempts, ours without the one that the kubelet's startup probe needs to pass."""
    numbers = isinstance(kubelet, int) and isinstance(probelet, int)
    return (kubelet, probelet - 1) if numbers else (kubelet, probelet)


def without_flags(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Rows of a container's status without its flags ready and started."""
    return _without_flags(kubelet), _without_flags(probelet)


def _without_flags(rows: Any) -> Any:
    if not isinstance(rows, list):
        return rows
    return [row for row, _ in groupby(re.sub(" (ready|started)(?= )", "", row) for row in rows)]


def without_sidecars(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Messages without the sidecars that they name: the agent makes the probes of one of them."""
    return _without_sidecars(kubelet), _without_sidecars(probelet)


def _without_sidecars(rows: Any) -> Any:
    return sorted({re.sub(r"side\d ", "", row) for row in rows}) if isinstance(rows, list) else rows


INSTANCES = r"(; )?instances (with ready status|that have started): \[[^\]]*\]"


def without_instances(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Our messages without the container instances that they name."""
    if not isinstance(probelet, list):
        return kubelet, probelet
    return kubelet, sorted({re.sub(INSTANCES, "", row) for row in probelet})


GATE = "^False ReadinessGatesNotReady: "

LISTED = (
    # The kubelet beside itself.
    Listed("late-wake", "containers", r"\S+: restarts, after s", wakes),
    Listed("waiting-shown", "status", r"\S+: waiting", if_true(alike_without(r"restarts=\d+|back-off \w+"))),
    # What a kubelet shows of a container without probes of its own.
    Listed("containers-ready", "status", r"\S+: status", without_flags),
    Listed("gate", "conditions", "Ready: reasons", only_probelet(GATE)),
    Listed("not-ready-first", "endpoints", "endpoint: states before it is ready", only_probelet("^not ready$")),
    Listed("restart-shown", "conditions", "Ready: reasons", only_probelet("^False ContainersNotReady: "), "sidecars"),
    # A longer wait makes a turn of a dip, so either side may have one.
    Listed("restart-shown", "conditions", "Ready: dips", pods="|".join(RESTARTED)),
    Listed("instances", "conditions", "verdict: reasons", without_instances),
    Listed("own-containers", "conditions", "verdict: reasons", without_sidecars, pods="sidecars"),
    # The kubelet's startup probe, of a pod whose few answers have one more because of it.
    Listed("asked-at-its-start", "events", "events", only_probelet("^Warning Unhealthy .*: Startup probe failed: ")),
    Listed("asked-at-its-start", "probes", r"app \d+: tcp tcp: period, s", pods="tcp"),
    Listed("asked-at-its-start", "probes", r"app \d+: tcp tcp: how many", without_startup_attempt, "tcp"),
    # What only an agent looks for.
    Listed("incident-events", "events", "events", only_probelet("^(Warning IncidentBegan|Normal IncidentEnded) ")),
    # A stop that the kubelet did not ask for.
    Listed("back-off-as-a-crash", "containers", r"\S+: restarts, after s", waits_like_a_crash),
    # The way through the API server.
    Listed("first-probe-later", "probes", r"\S+ \d+: \S+ \S+: first, after s", later("probelet", 2.5)),
    Listed("gate-waits", "conditions", "Ready: turns, after s", first_later(LOOK_SECONDS)),
    Listed("gate-waits", "endpoints", "endpoint: turns, after s", first_later(LOOK_SECONDS)),
)
