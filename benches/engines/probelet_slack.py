"""probelet with the opt-in that lets probes be late so that they share wake-ups."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine(
    "probelet-slack",
    "probelet, `wakeSlack: 10ms`",
    (PYTHON, "-m", "probelet", "bench"),
    ("--wake-slack", "10ms", "-o", "json"),
)
