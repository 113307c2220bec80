"""Creates the engine of a configuration."""

import os
from pathlib import Path

import structlog

from probelet._rust import Backoff, Engine
from probelet.base.files.trusted_directory import UntrustedError
from probelet.config.load import Config
from probelet.policy.node.restart_gate import RestartGate
from probelet.server.control.state_dir import opened
from probelet.spec.text.quantity import parse_quantity

# The directory of the flight recorder in the state directory.
RECORDER = "flight-recorder"

# The file in the state directory that keeps a service's state across restarts (``restore: full``).
JOURNAL = "journal"

log = structlog.get_logger("probelet.journal")


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
        extra_runs_per_second=opted.extra_attempts_per_second,
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


def journal(configuration: Config, state_dir: Path, backoff: Backoff) -> tuple[Path, Backoff] | None:
    """The journal's path and the back-off to keep in it; None with ``restore: kubelet``.

    In that case it deletes an earlier run's journal: a later run must not take it for recent.
    """
    path = state_dir / JOURNAL
    if configuration.probelet.restore == "full":
        return path, backoff
    try:
        with opened(state_dir) as directory:
            (directory / JOURNAL).unlink(missing_ok=True)
    except (OSError, UntrustedError) as error:
        # What is no file is no journal, and a later run does not take it for one.
        log.warning("journal: cannot be removed", path=str(path), error=str(error))
    return None
