"""How the conditions of a pod turn, with their reasons."""

from tests.cluster.fifteen.facts.turns import Life, Turns
from tests.cluster.record.seen import ClusterSide, condition, moment
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.text import text

OURS = "probelet.dev/ready"


def facts(side: ClusterSide, other: ClusterSide, pod: str) -> list[Fact]:
    """Of the pod's Ready, and of the verdict about its containers: that of the kubelet, or of the agent."""
    lives = Life.of(side, pod), Life.of(other, pod)
    verdicts = _verdict(side, pod), _verdict(other, pod)
    ready, theirs = _turns(side, pod, "Ready"), _turns(other, pod, "Ready")
    steady, verdict = ready.without_dips("True", pod), _turns(side, pod, verdicts[0]).without_dips("True", pod)
    return [
        *steady.facts("Ready", theirs.without_dips("True", pod), pod, *lives),
        Fact("Ready: dips", steady != ready),
        Fact("Ready: reasons", _reasons(side, pod, "Ready")),
        *verdict.facts("verdict", _turns(other, pod, verdicts[1]).without_dips("True", pod), pod, *lives),
        Fact("verdict: reasons", _reasons(side, pod, verdicts[0])),
    ]


def _verdict(side: ClusterSide, pod: str) -> str:
    """The condition that says whether the probes let the pod be ready."""
    gates = [gate for note in side.changes(pod) for gate in note["object"]["spec"].get("readinessGates", [])]
    return OURS if {"conditionType": OURS} in gates else "ContainersReady"


def _turns(side: ClusterSide, pod: str, kind: str) -> Turns:
    rows = [(moment(note), condition(note["object"], kind).get("status", "")) for note in side.changes(pod)]
    return Turns.of([(at, status) for at, status in rows if status], side.end_of(pod))


def _reasons(side: ClusterSide, pod: str, kind: str) -> list[str]:
    end = side.end_of(pod)
    seen = [condition(note["object"], kind) for note in side.changes(pod) if moment(note) < end]
    words = {f"{one['status']} {one.get('reason', '')}: {text(one.get('message', ''))}" for one in seen if one}
    return sorted(words)
