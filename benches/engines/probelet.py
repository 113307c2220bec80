"""probelet, as a user measures it."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine("probelet", "probelet", (PYTHON, "-m", "probelet", "bench"), ("-o", "json"))
