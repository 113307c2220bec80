"""How the conditions of a pod turn, with their reasons."""

from tests.cluster.fifteen.facts.turns import Life, Turns
from tests.cluster.record.seen import ClusterSide, condition, moment
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.text import text

KINDS = ("Ready", "ContainersReady")


def facts(side: ClusterSide, other: ClusterSide, pod: str) -> list[Fact]:
    found = []
    for kind in KINDS:
        lives = Life.of(side, pod), Life.of(other, pod)
        found += _turns(side, pod, kind).facts(kind, _turns(other, pod, kind), *lives)
        found.append(Fact(f"{kind}: reasons", _reasons(side, pod, kind)))
    return found


def _turns(side: ClusterSide, pod: str, kind: str) -> Turns:
    rows = [(moment(note), condition(note["object"], kind).get("status", "")) for note in side.changes(pod)]
    return Turns.of([(at, status) for at, status in rows if status], side.end_of(pod))


def _reasons(side: ClusterSide, pod: str, kind: str) -> list[str]:
    end = side.end_of(pod)
    seen = [condition(note["object"], kind) for note in side.changes(pod) if moment(note) < end]
    words = {f"{one['status']} {one.get('reason', '')}: {text(one.get('message', ''))}" for one in seen if one}
    return sorted(words)
