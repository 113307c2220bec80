"""probelet with the opt-in that spreads first probes over the period, even if all pods arrive at once."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine(
    "probelet-spread",
    "probelet, `schedule: spread`",
    (PYTHON, "-m", "probelet", "bench"),
    ("--phase", "spread", "-o", "json"),
)
