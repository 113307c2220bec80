"""The targets of the measured engines. Each runs in a process of its own, so that its CPU does not count as theirs."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from probelet.lab.bench.target import NETWORK, OwnTarget, own_target

from benches.machine import ROOT

PROGRAM = ROOT / "build" / "target"


class Watched(Protocol):
    """A target that notes when probes arrive."""

    @property
    def pid(self) -> int: ...

    @property
    def place(self) -> str:
        """``ADDRESS/BITS:PORT``."""

    def statistics(self) -> dict[str, Any]:
        """Returns what it saw since ``forget``: ``probes``, and ``lateness_ms`` against each worker's own schedule."""

    def forget(self) -> None: ...


@dataclass(frozen=True)
class Target:
    """build/target, in C: HTTP and TCP, healthy or not."""

    port: int
    pid: int

    @property
    def place(self) -> str:
        return f"{NETWORK}:{self.port}"

    def statistics(self) -> dict[str, Any]:
        return self._get("/stats")

    def forget(self) -> None:
        self._get("/reset")

    def _get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            value: dict[str, Any] = json.load(answer)
            return value


@contextmanager
def target(*behaviour: str) -> Iterator[Target]:
    """A target on every address of 127.0.0.0/8 and a port of its own choice; gone when the block ends."""
    with subprocess.Popen([PROGRAM, ":0", *behaviour], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Target(int(process.stdout.readline().rpartition(":")[2]), process.pid)
        finally:
            process.kill()


@dataclass(frozen=True)
class Crypted:
    """build/probelet-target: HTTPS and gRPC, which the target in C does not speak."""

    own: OwnTarget

    @property
    def pid(self) -> int:
        return self.own.pid

    @property
    def place(self) -> str:
        return f"{NETWORK}:{self.own.place.port}"

    def statistics(self) -> dict[str, Any]:
        return self.own.statistics()

    def forget(self) -> None:
        self.own.forget()


@dataclass(frozen=True)
class Runtime:
    """peers/cri/runtime.py: each answer carries the call's arrival time, so probers calculate their own lateness."""

    pid: int
    place: str

    def statistics(self) -> dict[str, Any]:
        return {"samples": 0, "burst_ms": None}

    def forget(self) -> None:
        """Does nothing, because this target keeps no figures."""


@contextmanager
def runtime() -> Iterator[Runtime]:
    """A runtime on a socket of its own; gone when the block ends."""
    with TemporaryDirectory() as folder:
        socket = f"{folder}/runtime.sock"
        command = [sys.executable, "-m", "benches.peers.cri.runtime", socket]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                process.stdout.readline()
                yield Runtime(process.pid, socket)
            finally:
                process.kill()


@contextmanager
def target_of(handler: str, period: int, behaviour: tuple[str, ...] = ()) -> Iterator[Watched | None]:
    """Returns the target of a handler's probes; exec has none. ``period`` is the workers' period in seconds."""
    if handler == "exec":
        yield None
    elif handler == "cri":
        with runtime() as wired:
            yield wired
    elif handler in ("http", "tcp"):
        with target(f"period={period * 1000}", *behaviour) as plain:
            yield plain
    else:
        with own_target(handler, period) as own:
            yield Crypted(own)
