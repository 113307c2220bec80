"""The ring of files in which a service records what happens, if the configuration has ``flightRecorder``."""

from pathlib import Path

from probelet.config.load import Config
from probelet.spec.text.quantity import parse_quantity

# The directory's name in the state directory.
NAME = "flight-recorder"


def flight_recorder(configuration: Config, state_dir: Path, node: str) -> tuple[Path, int, str] | None:
    """The ring's directory, its size in bytes and the node's name; None without ``flightRecorder``.

    An earlier run's recording stays: a person may want to read it, and the ring keeps its size.
    """
    options = configuration.probelet.flight_recorder
    if options is None:
        return None
    return state_dir / NAME, int(parse_quantity(options.size)), node
