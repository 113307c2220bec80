"""The file that keeps a service's state across restarts, if the configuration has ``restore: full``."""

from pathlib import Path

import structlog

from probelet._rust import Backoff
from probelet.base.files.trusted_directory import UntrustedError
from probelet.config.load import Config
from probelet.server.control.state_dir import opened

# The file's name in the state directory.
NAME = "journal"

log = structlog.get_logger("probelet.journal")


def journal(configuration: Config, state_dir: Path, backoff: Backoff) -> tuple[Path, Backoff] | None:
    """The journal's path and the back-off to keep in it; None with ``restore: kubelet``.

    In that case it deletes an earlier run's journal: a later run must not take it for recent.
    """
    path = state_dir / NAME
    if configuration.probelet.restore == "full":
        return path, backoff
    try:
        with opened(state_dir) as directory:
            (directory / NAME).unlink(missing_ok=True)
    except (OSError, UntrustedError) as error:
        # What is no file is no journal, and a later run does not take it for one.
        log.warning("journal: cannot be removed", path=str(path), error=str(error))
    return None
