"""The engine of a node: the one whose journal has what the gate in front of restarts has charged."""

import os
from pathlib import Path

from probelet._rust import Engine
from probelet.config.load import Config
from probelet.daemon.journal import journal
from probelet.policy.node.restart_gate import RestartGate


def node_engine(configuration: Config, gate: RestartGate, state_dir: Path) -> Engine:
    """An engine as the configuration asks for one; ``gate`` has back what the journal in ``state_dir`` remembered."""
    version, opted = configuration.gates.version, configuration.probelet
    engine = Engine(
        seed=int.from_bytes(os.urandom(8)),
        kubelet_version=version,
        user_agent=f"kube-probe/{version}",
        phase=opted.phase,
        starved_share=opted.starved_share,
        starved_verdict=opted.starved_verdict,
        journal=journal(configuration, state_dir, gate.table),
    )
    gate.recalled(engine.now())
    return engine
