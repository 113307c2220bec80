"""The pytest plugin of probelet: the fixture ``virtual_node``, and a timeline of its nodes below a test that fails.

pytest imports this module at every start, whether a test uses it or not. So it imports nothing: the fixture imports
``probelet.testing`` when a test asks for it.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from probelet.testing import Manifests, VirtualNode

_NODES = pytest.StashKey[list["VirtualNode"]]()


class MakeNode(Protocol):
    """Makes a node: the arguments are those of ``probelet.testing.VirtualNode``."""

    def __call__(self, *manifests: "Manifests", **options: Any) -> "VirtualNode":
        """Returns a node; if the test fails, its report has the node's timeline."""


@pytest.fixture
def virtual_node(request: pytest.FixtureRequest) -> MakeNode:
    """Make nodes in virtual time: ``virtual_node("pod.yaml")`` returns a ``probelet.testing.VirtualNode``.

    The arguments are those of ``VirtualNode``. If the test fails, its report shows what happened on each node.
    """
    from probelet.testing import VirtualNode

    nodes = request.node.stash.setdefault(_NODES, [])

    def make(*manifests: "Manifests", **options: Any) -> VirtualNode:
        __tracebackhide__ = True
        node = VirtualNode(*manifests, **options)
        nodes.append(node)
        return node

    return make


# `wrapper=True` would be shorter, and would break every run of a pytest before 7.4 on a machine with probelet.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds the timelines to the report of a test that failed."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if report.failed and report.when == "call":
        for node in item.stash.get(_NODES, ()):
            report.sections.append((f"virtual node at {node.now:g} s", node.timeline()))
