"""The service's place in the kernel's order of processes to kill when memory runs out."""

from pathlib import Path

import structlog

from probelet.config.load import Config

OWN = Path("/proc/self/oom_score_adj")

log = structlog.get_logger("probelet.daemon")


def apply_oom_score(configuration: Config, file: Path = OWN) -> None:
    """Sets ``oomScoreAdj``, as the kubelet does at its start (cmd/kubelet/app/server.go, 1.36). Only root may lower a
    score: without a wish in a file, others keep theirs in silence."""
    try:
        file.write_text(str(configuration.kubelet.oom_score_adj))
    except OSError as error:
        if "oomScoreAdj" in configuration.origins:
            log.warning("cannot set oomScoreAdj", error=error.strerror)
