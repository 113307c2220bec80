"""Creates a node's engine, with a journal that includes the restart gate's charges."""

import os
from pathlib import Path

from probelet._rust import Engine
from probelet.config.load import Config
from probelet.daemon.journal import journal
from probelet.policy.node.restart_gate import RestartGate


def node_engine(configuration: Config, gate: RestartGate, state_dir: Path) -> Engine:
    """Creates the engine of ``configuration``; ``gate`` gets back the charges in ``state_dir``'s journal."""
    version, opted = configuration.gates.version, configuration.probelet
    engine = Engine(
        seed=int.from_bytes(os.urandom(8)),
        kubelet_version=version,
        user_agent=f"kube-probe/{version}",
        phase=opted.schedule,
        starved_share=opted.starved_share,
        starved_verdict=opted.starved_verdict,
        journal=journal(configuration, state_dir, gate.table),
    )
    gate.recalled(engine.now())
    return engine
