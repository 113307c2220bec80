"""probelet: ``probelet bench`` as a user runs it; over a runtime's socket, the parts of ``probelet run``."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine(
    "probelet",
    "probelet",
    (PYTHON, "-m", "probelet", "bench"),
    ("-o", "json"),
    instead={"cri": (PYTHON, "-m", "benches.peers.cri", "probelet")},
)
