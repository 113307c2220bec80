"""probelet, as a user measures it; over a runtime's socket, what a user runs."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine(
    "probelet",
    "probelet",
    (PYTHON, "-m", "probelet", "bench"),
    ("-o", "json"),
    instead={"cri": (PYTHON, "-m", "benches.peers.cri", "probelet")},
)
