"""The Deployment: a new pod has to be ready before an old one goes."""

from tests.cluster.fifteen.pods import DEPLOYMENT
from tests.cluster.record.seen import ClusterSide, condition, moment
from tests.kubelet.beside.facts.fact import Fact

TAKES_SECONDS = 3.0


def facts(side: ClusterSide) -> list[Fact]:
    steps = _steps(side)
    took = steps[-1][0] - side.mark("rollout") if steps else None
    return [
        Fact("rollout: steps", [step for _, step in steps]),
        Fact("rollout: takes, s", took, TAKES_SECONDS),
        Fact("rollout: fewest ready endpoints", _fewest(side)),
    ]


def _steps(side: ClusterSide) -> list[tuple[float, str]]:
    """What became of each pod after the change of the template, in order."""
    old = {name for name, at in _created(side).items() if at < side.mark("rollout")}
    seen: set[tuple[str, str]] = set()
    steps = []
    for note in side.pods_with(DEPLOYMENT):
        thing, name = note["object"], note["object"]["metadata"]["name"]
        whose = "old" if name in old else "new"
        step = ""
        if whose == "new" and condition(thing, "Ready").get("status") == "True":
            step = "ready"
        elif thing["metadata"].get("deletionTimestamp"):
            step = "deleted"
        if step and (name, step) not in seen and moment(note) > side.mark("rollout"):
            seen.add((name, step))
            steps.append((moment(note), f"{whose} pod {step}"))
    return steps


def _created(side: ClusterSide) -> dict[str, float]:
    """The moment at which each pod was first seen."""
    first: dict[str, float] = {}
    for note in side.pods_with(DEPLOYMENT):
        first.setdefault(note["object"]["metadata"]["name"], moment(note))
    return first


def _fewest(side: ClusterSide) -> int:
    """The fewest ready endpoints from the change on."""
    states = [states for at, states in side.endpoints(DEPLOYMENT) if at > side.mark("rollout")]
    return min((sum(state.startswith("ready") for state in one.values()) for one in states), default=-1)
