"""Where a service keeps what a restart would lose, if it is to."""

from pathlib import Path

from probelet._rust import Backoff
from probelet.config.load import Config

# In the state directory.
NAME = "journal"


def journal(configuration: Config, state_dir: Path, backoff: Backoff) -> tuple[Path, Backoff] | None:
    """What the engine keeps, and where; as the kubelet: nothing.

    Then what an earlier run kept goes: a later one must not take it for what was true last.
    """
    path = state_dir / NAME
    if configuration.probelet.restore == "full":
        return path, backoff
    path.unlink(missing_ok=True)
    return None
