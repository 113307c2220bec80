"""Tests of probe configurations: the production prober under a virtual clock, with scripted answers.

    node = VirtualNode("pod.yaml")
    node.answer("web/app/liveness", "success", "failure * 3")
    node.run("1m")
    assert node.restarts("web/app") == 1

``VirtualNode`` is the node; ``Attempt``, ``Event``, ``Kill`` and ``Transition`` are what it has seen. A mistake in a
manifest raises ``ManifestError``, one in a name, an answer or a duration ``AnswerError``. With pytest, the fixture
``virtual_node`` makes nodes and shows their timelines below a test that fails. The modules inside are internal.
"""

from probelet.errors import AnswerError, ManifestError
from probelet.testing.node import VirtualNode
from probelet.testing.record import Attempt, Event, Kill, Transition
from probelet.virtual.manifests import Manifests

__all__ = ["AnswerError", "Attempt", "Event", "Kill", "ManifestError", "Manifests", "Transition", "VirtualNode"]
