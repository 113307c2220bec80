"""Creates the restart gate of a configuration."""

import os

from probelet.config import Config
from probelet.policy.node.restart_gate import GateOptions, Limits, RestartGate


def restart_gate(config: Config) -> RestartGate:
    """The node's gate, with the curve of the kubelet's document and the opt-ins of ours."""
    curve, opt_in = config.crash_loop, config.probelet
    budget = opt_in.restart_budget
    options = GateOptions(
        initial_ns=curve.initial,
        max_ns=curve.max,
        reset_ns=curve.reset,
        first_free=opt_in.first_restart == "free",
        late=opt_in.restart_timer == "kubelet",
        own_exit=opt_in.probe_kill_accounting == "ownExit",
        limits=_limits(config) if opt_in.container_backoff_annotations else None,
        budget=None if budget is None else (budget.burst, budget.refill),
    )
    return RestartGate(options, seed=int.from_bytes(os.urandom(8)))


def _limits(config: Config) -> Limits:
    return Limits(config.probelet.container_backoff_min, config.probelet.container_backoff_max)
