"""The plan of a stand-in: its ports, and its behaviour. Times are seconds, and moments are of the machine's monotonic
clock."""

import math
import random
from typing import Final, Literal, TypeAlias

import msgspec

ProbeType: TypeAlias = Literal["liveness", "readiness", "startup"]
"""The same as in the model of a pod, whose import would be most of a stand-in's start."""

NORMAL_99: Final = 2.3263478740408408
"""The 99th percentile of the normal distribution."""


class Spread(msgspec.Struct, frozen=True, omit_defaults=True):
    """A length of time: uniform from ``low`` to ``high``, or log-normal with these as median and 99th percentile."""

    low: float = 0.0
    high: float = 0.0
    is_log_normal: bool = False

    def draw(self, source: random.Random) -> float:
        """One such length."""
        if not self.is_log_normal:
            return source.uniform(self.low, self.high)
        return self.low * math.exp(source.gauss(0, math.log(self.high / self.low) / NORMAL_99))


class Trouble(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault from ``at`` on: the process answers nothing any more, ends, stands still now and then, or starts
    later."""

    kind: Literal["deadlock", "exit", "gc-pause", "startup-slow"]
    at: float
    until: float | None = None
    """None: for good."""
    code: int = 1
    """The exit code of ``exit``."""
    lasts: float = 0.0
    """How long one pause is, or how much later a start is."""
    every: float = 0.0
    """The period of pauses."""


class Behaviour(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a container behaves. The defaults are one that is up at once and answers at once."""

    startup: Spread = Spread()
    latency: Spread = Spread()
    troubles: list[Trouble] = []


class Port(msgspec.Struct, frozen=True, omit_defaults=True):
    """A port that is served."""

    number: int
    is_tls: bool = False


class Plan(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stand-in."""

    name: str
    """``pod/container``, for its log."""
    ports: list[Port] = []
    commands: list[ProbeType] = []
    """The exec probes that it answers."""
    behaviour: Behaviour = Behaviour()


Json: TypeAlias = str


def encode(plan: Plan) -> Json:
    """The argument of the program."""
    return msgspec.json.encode(plan).decode()


def decode(text: Json) -> Plan:
    """The plan of the program's argument."""
    return msgspec.json.decode(text, type=Plan)
