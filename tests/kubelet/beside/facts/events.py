"""The different events of a pod, of the whole comparison."""

import re
from collections import Counter

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.facts.removal import running_at_removal
from tests.kubelet.beside.seen.side import Side

CHANCE = re.compile(
    "connection refused|invalid argument|no route to host|connection reset|i/o timeout|broken pipe"
    "|within 1s: context deadline|code = Unavailable|ImageInspectError|: EOF$|server is not initialized yet"
)
"""Words of a probe just before its container listens or just after it has gone, or of a sync while containerd is away:
whether there is one is chance."""


BURST, LATE = 25, ("Killing", "BackOff")
"""After 25 events of a pod the spam filter drops others, which a kubelet's log still has. Which of the late ones it
drops depends on how many came before."""


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    mine, theirs = _texts(side, pod), _texts(other, pod)
    shown = {one for one in mine if not CHANCE.search(one)}
    # At the end the containers of one side may wait in back-off, and nothing stops them.
    stopped = running_at_removal(side, pod).keys() ^ running_at_removal(other, pod).keys()
    shown -= {one for one in shown for name in stopped if one.endswith(f"Stopping container {name}")}
    if max(mine.total(), theirs.total()) >= BURST:
        shown -= {one for one in shown if one.split()[1] in LATE and one not in theirs}
    return [Fact("events", sorted(shown))]


def _texts(side: Side, pod: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for event in side.events:
        if event["pod"] == pod:
            field = event["field"].removeprefix("spec.")
            found[f"{event['type']} {event['reason']} {field}: {event['message']}"] += event["count"]
    return found
