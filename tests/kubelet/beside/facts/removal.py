"""The end of a pod after its manifest has gone: hooks, signals, exits, the last probe."""

from statistics import median

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.facts.probes import request
from tests.kubelet.beside.pods.changes import REMOVED, REMOVED_WHILE_DOWN
from tests.kubelet.beside.seen.instance import PROBES, Instance, at
from tests.kubelet.beside.seen.side import Side

SIGNAL_SECONDS, END_SECONDS, PROBE_SECONDS, SLOW_SECONDS, MEDIAN_SECONDS = 1.2, 1.2, 1.7, 2.5, 0.15

PLAIN = ("removed-slow", "removed-ignores")
"""Pods without a hook."""


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    mine, theirs = running_at_removal(side, pod), running_at_removal(other, pod)
    # At that moment the container of one side may wait in back-off.
    return [fact for name in mine if name in theirs for fact in _of_instance(name, mine[name], _removal(side, pod))]


def _removal(side: Side, pod: str) -> float:
    mark = "remove" if pod in REMOVED else "agent_starts" if pod == REMOVED_WHILE_DOWN else "remove_all"
    return side.mark(mark)


def running_at_removal(side: Side, pod: str) -> dict[str, Instance]:
    """The instances that run when the manifest goes."""
    moment = _removal(side, pod)
    last = {name: rows[-1] for name, rows in side.of(pod).items()}
    return {name: one for name, one in last.items() if one.started and not 0 < one.finished < moment}


def _of_instance(name: str, one: Instance, moment: float) -> list[Fact]:
    after = [note for note in one.notes if at(note) > moment]
    signals = [at(note) - moment for note in after if note["what"] == "signal"]
    hooks = [at(note) - moment for note in after if note.get("name") == "hook" and note["what"] in PROBES]
    probes = [at(note) - moment for note in after if note["what"] in PROBES and note.get("name") != "hook"]
    long = bool(signals) and one.finished - moment > signals[0] + SLOW_SECONDS
    until_end = (
        [Fact(f"{name}: probed until its end", one.finished - moment - probes[-1] < 1.1)] if long and probes else []
    )
    return [
        *until_end,
        Fact(f"{name}: preStop, after s", hooks[:1], SIGNAL_SECONDS),
        Fact(f"{name}: SIGTERM, after s", signals, SIGNAL_SECONDS),
        Fact(f"{name}: end, after s", one.finished - moment if one.finished else None, END_SECONDS),
        Fact(f"{name}: exit code", one.exit_code),
        Fact(f"{name}: request of the hook", sorted({request(note) for note in after if note.get("name") == "hook"})),
        Fact(f"{name}: last probe, after s", probes[-1] if probes else 0.0, PROBE_SECONDS),
    ]


def medians(side: Side) -> list[Fact]:
    """Of the few pods that go first: how soon after its manifest a container without a hook gets its signal."""
    moment = side.mark("remove")
    waits = [
        at(note) - moment
        for pod in PLAIN
        for one in running_at_removal(side, pod).values()
        for note in [note for note in one.notes if note["what"] == "signal" and at(note) > moment][:1]
    ]
    return [Fact("median: from the removal to SIGTERM, s", median(waits or [0.0]), MEDIAN_SECONDS, is_median=True)]
