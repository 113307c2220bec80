"""How many of a node's pods fail at once, as far as anybody can know it (F-11).

Each probe meets a broken network at its next attempt. A probe with a period of 30 s has published nothing when one with
3 s has failed for good, and its silence must not count as health.

Laws

1. A pod counts as failing once the last attempt of one of its probes has failed, before any threshold.
2. A pod that does not fail counts as well only from the moment at which each of its probes has made an attempt since
   the judged failure began, and its node has had the time to publish it. Until then it counts as neither.
3. So for the same pods, a failure that began later never finds a smaller share that fails.
"""

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from typing import Final


@dataclass(slots=True)
class _Node:
    spans: dict[str, int] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    well: list[int] = field(default_factory=list)
    """The spans of the pods that do not fail, in order."""


_NONE: Final = _Node()


class NodeShare:
    """The probed pods of each node. ``age_ns`` of a question: for how long the judged failure has lasted by now."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._node_of: dict[str, str] = {}

    def put(self, uid: str, node: str, *, is_failing: bool, span_ns: int) -> None:
        """Note a probed pod. ``span_ns``: the time from any moment until attempts that began after it are published."""
        self.drop(uid)
        self._node_of[uid] = node
        found = self._nodes.setdefault(node, _Node())
        found.spans[uid] = span_ns
        if is_failing:
            found.failing.add(uid)
        else:
            insort(found.well, span_ns)

    def drop(self, uid: str) -> None:
        """A pod is not probed any more."""
        node = self._node_of.pop(uid, None)
        if node is None:
            return
        found = self._nodes[node]
        span_ns = found.spans.pop(uid)
        if uid in found.failing:
            found.failing.discard(uid)
        else:
            del found.well[bisect_right(found.well, span_ns) - 1]
        if not found.spans:
            del self._nodes[node]

    def probed(self, node: str) -> int:
        """How many pods of a node are probed."""
        return len(self._nodes.get(node, _NONE).spans)

    def failing(self, node: str) -> int:
        """How many pods of a node fail."""
        return len(self._nodes.get(node, _NONE).failing)

    def well(self, node: str, age_ns: int) -> int:
        """How many pods of a node are known not to fail."""
        return bisect_right(self._nodes.get(node, _NONE).well, age_ns)

    def is_above(self, node: str, age_ns: int, ratio: float, least: int) -> bool:
        """Whether at least ``ratio`` of the known pods fails on a node with at least ``least`` probed ones."""
        failing = self.failing(node)
        return self.probed(node) >= least and failing > 0 and failing >= ratio * (failing + self.well(node, age_ns))

    def next_ns(self, node: str, age_ns: int) -> int | None:
        """After how much more time another pod is known not to fail; None if all are known."""
        spans = self._nodes.get(node, _NONE).well
        place = bisect_right(spans, age_ns)
        return spans[place] - age_ns if place < len(spans) else None
