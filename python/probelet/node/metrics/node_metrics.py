"""Everything that a node counts itself, by page section."""

from collections.abc import Mapping
from typing import Any

from probelet.node.metrics.counters import Counters
from probelet.node.metrics.crash_loop import CrashLoopMetrics
from probelet.node.metrics.pods import PodMetrics
from probelet.policy.node.restart_gate import RestartGate


class NodeMetrics:
    """The metrics of one node; those of restarts observe its gate. ``configuration`` says where the curve is from."""

    def __init__(self, gate: RestartGate, configuration: Mapping[str, Any]) -> None:
        self.counters = Counters()
        self.pods = PodMetrics()
        curve, source = gate.options, configuration.get("crashLoopBackOff", {}).get("source", "default")
        self.crash_loop = CrashLoopMetrics(curve.initial_ns, curve.max_ns, curve.reset_ns, source)
        gate.observer = self.crash_loop
