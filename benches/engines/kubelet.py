"""The kubelet's own prober."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine("kubelet", "kubelet 1.36.3", (str(BUILD / "kubelet"),), needs=BUILD / "kubelet")
