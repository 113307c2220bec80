"""What the node counts itself, as Prometheus text. Everything about probes is counted and rendered by the engine."""

from collections import Counter

from probelet.node.execs import ExecCounts
from probelet.policy.action import KillContainer
from probelet.policy.kill import KillReason

REASONS = {
    KillReason.DEFINITION: "definition_changed",
    KillReason.LIVENESS: "liveness",
    KillReason.POST_START: "post_start_hook",
    KillReason.RESTART_ALL: "restart_all_containers",
    KillReason.STARTUP: "startup",
    KillReason.UNKNOWN: "stopping",
}
"""Why a container was killed, as a label and in the log. The kubelet says Unknown of every kill of an ending pod."""


class Counters:
    """Counters with bounded labels only."""

    def __init__(self) -> None:
        self._kills: Counter[tuple[str, str]] = Counter()
        self._starts: Counter[bool] = Counter()

    def killed(self, effect: KillContainer) -> None:
        """A container has been killed."""
        self._kills[REASONS[effect.reason], effect.grace_source] += 1

    def started(self, *, again: bool) -> None:
        """A container has been started, for the first time or again."""
        self._starts[again] += 1

    def render(self, pods: dict[str, int], execs: ExecCounts, events_dropped: int, *, runtime_up: bool) -> bytes:
        """The page; ``pods`` is how many there are per phase, ``runtime_up`` whether the last list was answered."""
        lines = _head("probelet_container_kills_total", "counter", "Containers killed, by reason and source of grace.")
        for (reason, source), count in sorted(self._kills.items()):
            lines.append(f'probelet_container_kills_total{{reason="{reason}",grace_source="{source}"}} {count}')
        lines += _head("probelet_container_starts_total", "counter", "Containers started.")
        for again in (False, True):
            kind = "restart" if again else "first"
            lines.append(f'probelet_container_starts_total{{kind="{kind}"}} {self._starts[again]}')
        lines += _head("probelet_pods", "gauge", "Pods by phase.")
        lines += [f'probelet_pods{{phase="{phase}"}} {count}' for phase, count in sorted(pods.items())]
        lines += _head("probelet_runtime_up", "gauge", "Whether the runtime could be listed the last time.")
        lines.append(f"probelet_runtime_up {int(runtime_up)}")
        for name, kind, text, value in (
            ("in_flight", "gauge", "that wait for the runtime", execs.in_flight),
            ("waiting", "gauge", "that wait for their turn (execMaxInFlight)", execs.waiting),
            ("hanging", "gauge", "given up that still hang in the runtime (execSingleFlight)", execs.hanging),
            ("waited_total", "counter", "that had to wait for their turn", execs.waited),
            ("waited_seconds_total", "counter", "seconds spent waiting for their turn", round(execs.waited_seconds, 6)),
            ("held_back_total", "counter", "never started behind one that hung (execSingleFlight)", execs.held_back),
        ):
            lines += _head(f"probelet_execs_{name}", kind, f"Exec attempts: {text}.")
            lines.append(f"probelet_execs_{name} {value}")
        lines += _head("probelet_events_dropped_total", "counter", "Events kept back by the recorder's spam filter.")
        lines.append(f"probelet_events_dropped_total {events_dropped}")
        return ("\n".join(lines) + "\n").encode()


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
