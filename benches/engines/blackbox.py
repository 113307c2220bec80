"""blackbox_exporter's probers, a goroutine per worker."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine("blackbox", "blackbox_exporter 0.28", (str(BUILD / "blackbox"),), needs=BUILD / "blackbox")
