"""A bare loop over the gRPC library that probelet's exec probes go through."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine("grpc-aio", "bare grpc.aio loop", (PYTHON, "-m", "benches.peers.cri", "bare"))
