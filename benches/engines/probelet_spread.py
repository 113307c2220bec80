"""probelet with the opt-in that gives each worker a phase of its own, on a grid of 10 ms."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine(
    "probelet-spread",
    "probelet, `schedule: spread`",
    (PYTHON, "-m", "probelet", "bench"),
    ("--phase", "spread", "-o", "json"),
)
