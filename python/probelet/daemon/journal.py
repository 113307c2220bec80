"""The file that keeps a service's state across restarts, if the configuration has ``restore: full``."""

from pathlib import Path

from probelet._rust import Backoff
from probelet.config.load import Config

# The file's name in the state directory.
NAME = "journal"


def journal(configuration: Config, state_dir: Path, backoff: Backoff) -> tuple[Path, Backoff] | None:
    """The journal's path and the back-off to keep in it; None with ``restore: kubelet``.

    In that case it deletes an earlier run's journal: a later run must not take it for recent.
    """
    path = state_dir / NAME
    if configuration.probelet.restore == "full":
        return path, backoff
    path.unlink(missing_ok=True)
    return None
