"""One scene for real in a process of its own, so that its CPU time and memory are its alone.

Reads ``{"scene", "seconds", "warm_up"}`` on stdin and prints an outcome.
"""

import asyncio
import sys

import msgspec
import structlog

from probelet.base import open_files
from probelet.lab.stress.real import RealNode
from probelet.lab.stress.scene import Scene


class Order(msgspec.Struct, frozen=True):
    """The play to run."""

    scene: Scene
    seconds: float
    warm_up: float


def main() -> None:
    """Play what stdin says."""
    open_files.raise_limit()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    outcome = asyncio.run(RealNode(order.scene).play(order.seconds, order.warm_up))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


if __name__ == "__main__":
    main()
