"""A target in a process of its own counts its probes and does not outlive its prober."""

import os
import signal
import socket
import subprocess
from subprocess import DEVNULL, PIPE

import pytest
from probelet.lab.bench.target import TargetError, own_target, program

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
        # The death is over before the command is sent, so the pipe is broken.
        os.waitid(os.P_PID, target.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(TargetError, match="ended before its prober"):
            target.statistics()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("udp", 'error: protocol: "udp": must be one of grpc, http, https, tcp'),
        ("tcp --port many", 'error: --port: "many": must be a number from 0 to 65535'),
    ],
)
def test_wrong_arguments_are_one_line_that_names_the_argument(arguments: str, message: str) -> None:
    ended = subprocess.run([program(), *arguments.split()], stdin=DEVNULL, stdout=PIPE, text=True)
    assert (ended.returncode, ended.stdout) == (2, f"{message}\n")


def test_an_unknown_command_ends_it_with_the_commands_that_exist() -> None:
    ended = subprocess.run([program(), "tcp"], input="forget\nreset\nforget\n", stdout=PIPE, text=True)
    assert ended.stdout.splitlines()[1:] == ["{}", 'error: command "reset": must be statistics or forget']
    assert ended.returncode == 1


def test_it_ends_when_its_input_ends() -> None:
    ended = subprocess.run([program(), "https"], stdin=DEVNULL, stdout=PIPE, text=True)
    assert ended.returncode == 0
    assert ended.stdout.startswith("port ")


def test_a_taken_port_is_reported() -> None:
    with own_target("tcp", 1) as target:
        command = [program(), "tcp", "--port", str(target.place.port)]
        ended = subprocess.run(command, stdin=DEVNULL, stdout=PIPE, text=True)
    assert ended.returncode == 1
    assert ended.stdout.startswith("error: ")
    assert "in use" in ended.stdout


def test_a_target_that_cannot_start_reports_its_reason() -> None:
    with (
        pytest.raises(TargetError, match='the target did not start: protocol: "udp": must be one of'),
        own_target("udp", 1),
    ):
        pass
