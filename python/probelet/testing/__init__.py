"""Tests of probe configurations: the production prober under a virtual clock, with scripted answers.

node = VirtualNode(Path("pod.yaml"))
node.answer("web/app/liveness", "success", "failure * 3")
node.run("1m")
"""

from probelet.testing.node import VirtualNode
from probelet.testing.record import Attempt, Event, Kill

__all__ = ["Attempt", "Event", "Kill", "VirtualNode"]
