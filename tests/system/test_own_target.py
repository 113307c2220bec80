"""A target in a process of its own counts its probes and does not outlive its prober."""

import os
import signal
import socket

import pytest
from probelet._rust import Target
from probelet.bench.target import TargetError, own_target

pytestmark = pytest.mark.e2e


def test_the_target_counts_probes_until_a_reset() -> None:
    with own_target("tcp", 1) as target:
        with socket.create_connection((target.place.address(3), target.place.port)) as connection:
            assert connection.recv(1) == b""
        assert target.statistics()["probes"] == 1
        target.forget()
        assert target.statistics()["probes"] == 0


def test_a_dead_target_is_reported() -> None:
    with own_target("tcp", 1) as target:
        os.kill(target.pid, signal.SIGKILL)
        with pytest.raises(TargetError, match="ended before its prober"):
            target.statistics()


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one of grpc, http, https, tcp"):
        Target("udp")  # type: ignore[arg-type]


def test_a_taken_port_is_reported() -> None:
    taken = Target("tcp")
    try:
        with pytest.raises(OSError, match="in use"):
            Target("tcp", port=taken.port)
    finally:
        taken.close()
