"""What is left of a pod 25 s after its manifest has gone, and at the end; how the agent itself ends."""

import re

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.pods.changes import REMOVED
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.seen.text import text

MOMENTS = {"left_after_removal": "25 s after the removal", "left": "at the end"}


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    found = []
    for mark, words in MOMENTS.items():
        if mark == "left_after_removal" and pod not in REMOVED:
            continue
        for kind, names in side.marks[mark].items():
            mine = [text(name) for name in names if _is_of(pod, name)]
            found.append(Fact(f"{words}: {kind}", sorted(mine)))
    return found


def _is_of(pod: str, name: str) -> bool:
    """Whether a thing that is left is of this pod: POD, POD/CONTAINER, default_POD_UID or POD_default_CONTAINER."""
    return re.match(rf"(default_)?{re.escape(text(pod))}(_|/|$)", text(name)) is not None


def of_agent(side: Side) -> list[Fact]:
    """How the agent ended."""
    return [
        Fact("agent: exit code after SIGTERM", side.marks["agent_exit_code"]),
        Fact("agent: exit code at the end", side.marks["agent_exit_code_at_the_end"]),
    ]
