"""Creates the engine of a configuration."""

import os
from pathlib import Path

from probelet._rust import Backoff, Engine
from probelet.config.load import Config
from probelet.daemon.journal import journal
from probelet.policy.node.restart_gate import RestartGate
from probelet.spec.text.quantity import parse_quantity

# The directory of the flight recorder in the state directory.
RECORDER = "flight-recorder"


def node_engine(configuration: Config, gate: RestartGate, state_dir: Path, node: str) -> Engine:
    """Creates the engine of the node ``node``; ``gate`` gets back the charges in ``state_dir``'s journal."""
    engine = _engine(configuration, state_dir, gate.table, node, glue=True)
    gate.recalled(engine.now())
    return engine


def agent_engine(configuration: Config, state_dir: Path, node: str) -> Engine:
    """Creates the engine of a node whose containers a kubelet restarts."""
    return _engine(configuration, state_dir, Backoff(), node, glue=True)


def enhanced_engine(configuration: Config) -> Engine:
    """Creates the engine for enhanced liveness, whose results report. It keeps nothing on disk: an agent that restarts
    leaves the published states until it knows better."""
    version, opted = configuration.gates.version, configuration.probelet
    return Engine(
        seed=int.from_bytes(os.urandom(8)),
        kubelet_version=version,
        semantics="enhanced",
        user_agent=f"kube-probe/{version}",
        phase=opted.schedule,
        wake_slack_ns=opted.wake_slack,
        glue=False,
        starved_share=opted.starved_share,
        starved_verdict=opted.starved_verdict,
    )


def callers_engine(configuration: Config, state_dir: Path, node: str) -> Engine:
    """Creates an engine for pods whose statuses callers keep."""
    return _engine(configuration, state_dir, Backoff(), node, glue=False)


def _engine(configuration: Config, state_dir: Path, table: Backoff, node: str, *, glue: bool) -> Engine:
    version, opted = configuration.gates.version, configuration.probelet
    return Engine(
        seed=int.from_bytes(os.urandom(8)),
        kubelet_version=version,
        user_agent=f"kube-probe/{version}",
        phase=opted.schedule,
        wake_slack_ns=opted.wake_slack,
        glue=glue,
        starved_share=opted.starved_share,
        starved_verdict=opted.starved_verdict,
        journal=journal(configuration, state_dir, table),
        recorder=_recorder(configuration, state_dir, node),
    )


def _recorder(configuration: Config, state_dir: Path, node: str) -> tuple[Path, int, str] | None:
    """The flight recorder's directory, its size in bytes and the node's name; None without ``flightRecorder``.

    An earlier run's recording stays: a person may want to read it, and the ring keeps its size.
    """
    options = configuration.probelet.flight_recorder
    if options is None:
        return None
    return state_dir / RECORDER, int(parse_quantity(options.size)), node
