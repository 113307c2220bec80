"""The facts of both sides, compared: each difference with the row of docs/cluster/agent.md that explains all of it."""

from collections.abc import Callable, Sequence

from tests.cluster.fifteen.facts import conditions, endpoints, rollout
from tests.cluster.fifteen.listed import LISTED
from tests.cluster.fifteen.pods import DEPLOYMENT, PODS, REMOVED
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.facts import events, instances, probes, removal, status
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.verdict.finding import NODE_ITSELF, Finding, different

SECTIONS: dict[str, Callable[[ClusterSide, ClusterSide, str], list[Fact]]] = {
    "containers": instances.facts,
    "probes": probes.facts,
    "status": status.facts,
    "events": events.facts,
    "conditions": conditions.facts,
    "endpoints": endpoints.facts,
    "removal": lambda side, other, pod: removal.facts(side, other, pod) if pod in REMOVED else [],
}
COLUMNS = (*SECTIONS, "node")


def findings(native: ClusterSide, taken: ClusterSide, names: Sequence[str]) -> list[Finding]:
    """Everything that differs."""
    found: list[Finding] = []
    pace = max(native.pace, taken.pace)
    for pod in names:
        if pod in PODS:
            for section, facts in SECTIONS.items():
                pair = facts(native, taken, pod), facts(taken, native, pod)
                found += different(pod, section, *pair, pace, LISTED)
    if DEPLOYMENT in names:
        found += different(DEPLOYMENT, "conditions", rollout.facts(native), rollout.facts(taken), pace, LISTED)
    found += different(NODE_ITSELF, "node", endpoints.medians(native), endpoints.medians(taken), pace, LISTED)
    return found
