"""Random clusters in virtual time, each with one thing that breaks, and the truth about it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from probelet import VirtualCluster
from probelet.policy.incidents import Kind
from probelet.virtual.cluster import (
    Behaviour,
    Deadlock,
    DependencyDown,
    DependencySlow,
    Fault,
    NodeSlow,
    Partition,
    ProberStarved,
    Rollout,
)

SETTLED: Final = 120
"""Seconds until everything runs."""
LATENCY: Final = "20ms"
PERIODS: Final = (2, 5, 5, 10, 10, 10, 20)
BESIDE_SHARE: Final = 0.3
"""The clusters in which a container of a workload that the fault does not touch stands still meanwhile."""
PLAYED_PERIODS: Final = 6
ROLLOUT_SECONDS: Final = 240


@dataclass(frozen=True)
class App:
    """A workload of the cluster."""

    name: str
    replicas: int
    kind: str
    startup: int
    """Seconds."""
    asks: tuple[str, ...]
    """The dependencies that its readiness probe asks."""
    probes: dict[str, dict[str, Any]]

    def manifest(self) -> dict[str, Any]:
        """Its object."""
        labels = {"app": self.name}
        container = {"name": "app", "image": f"registry.example/{self.name}:1", **self.probes}
        spec: dict[str, Any] = {
            "replicas": self.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        }
        if self.kind == "StatefulSet":
            spec |= {"serviceName": self.name, "podManagementPolicy": "Parallel"}
        return {"apiVersion": "apps/v1", "kind": self.kind, "metadata": {"name": self.name}, "spec": spec}

    @property
    def longest_period(self) -> int:
        """Of its probes that go on, in seconds."""
        return max(int(probe["periodSeconds"]) for name, probe in self.probes.items() if name != "startupProbe")


@dataclass(frozen=True)
class Truth:
    """What breaks."""

    fault: str
    """In a word, for the table."""
    kind: Kind
    value: str
    """What the detector should name; empty if it cannot know."""
    at: float
    """When, in seconds."""
    period: float
    """The longest period of the probes that it touches."""
    lasts: float
    """How long it is watched."""


@dataclass(frozen=True)
class World:
    """A cluster that was played to the end."""

    cluster: VirtualCluster
    truth: Truth
    named: bool
    """Whether the detector knows what probes ask."""
    other: str
    """The workload of which another container stands still; empty without one."""


def world(seed: int) -> World:
    """The random cluster of a seed, played."""
    random = Random(seed)
    draw = FAULTS[seed % len(FAULTS)]
    while True:
        made = draw(random, seed)
        if made is not None:
            return made


def apps_of(random: Random, count: int, dependencies: list[str]) -> list[App]:
    """Random workloads."""
    found = []
    for number in range(count):
        asks = tuple(sorted(random.sample(dependencies, random.choice((0, 1, 1, min(2, len(dependencies)))))))
        probes: dict[str, dict[str, Any]] = {}
        probes["readinessProbe"] = _probe(random, "/ready", threshold=3)
        if random.random() < 0.7:
            probes["livenessProbe"] = _probe(random, "/live", threshold=random.choice((3, 3, 5)))
        startup = random.choice((1, 3, 8, 20))
        if random.random() < 0.4 or startup > 8 or (startup > 1 and "livenessProbe" in probes):
            probes["startupProbe"] = {
                "httpGet": {"path": "/live", "port": 80},
                "periodSeconds": 2,
                "failureThreshold": 30,
            }
        kind = random.choice(("Deployment", "Deployment", "Deployment", "StatefulSet"))
        found.append(App(f"app-{number}", random.choice((1, 2, 3, 3, 4, 6)), kind, startup, asks, probes))
    return found


def _probe(random: Random, path: str, *, threshold: int) -> dict[str, Any]:
    handler: dict[str, Any] = {"httpGet": {"path": path, "port": 80}}
    if random.random() < 0.25:
        handler = {"exec": {"command": ["/check", path]}}
    elif random.random() < 0.15:
        handler = {"grpc": {"port": 80}}
    timeout = random.choice((1, 1, 2, 3))
    period = max(random.choice(PERIODS), timeout)
    return {**handler, "periodSeconds": period, "timeoutSeconds": timeout, "failureThreshold": threshold}


def _cluster(random: Random, seed: int, nodes: int, apps: list[App], dependencies: list[str]) -> VirtualCluster:
    cluster = VirtualCluster([app.manifest() for app in apps], nodes=nodes, seed=seed)
    for name in dependencies:
        cluster.dependency(name, "10ms")
    for app in apps:
        cluster.behave(app.name, _behaviour(app))
    cluster.run(f"{SETTLED + random.randrange(20_000) / 1_000:.3f}s")
    return cluster


def _behaviour(app: App, **fields: Any) -> Behaviour:
    asks = {"readiness": app.asks} if app.asks else {}
    return Behaviour(**{"startup": f"{app.startup}s", "latency": LATENCY, "asks": asks, **fields})


def _played(
    cluster: VirtualCluster,
    fault: Fault,
    word: str,
    kind: Kind,
    value: str,
    apps: list[App],
    random: Random,
    more: float = 0.0,
) -> World:
    period = max(app.longest_period for app in apps)
    truth = Truth(word, kind, value, cluster.now, period, PLAYED_PERIODS * period + more)
    cluster.fault(fault)
    named = random.random() < 0.5
    beside = [name for name in cluster.workloads if name not in {app.name for app in apps}]
    other = ""
    if beside and kind != "container" and random.random() < BESIDE_SHARE:
        at = cluster.now + random.random() * period
        other = random.choice(beside)
        cluster.fault(Deadlock(other, replicas=1, at=f"{at:.3f}s"))
    cluster.run(f"{truth.lasts:.3f}s")
    return World(cluster, truth, named, other)


def _setting(random: Random, least: int = 3) -> tuple[int, list[str], list[App]]:
    nodes = random.choice((1, 2, 3, 3, 4, 6))
    dependencies = [f"dep-{number}" for number in range(random.randint(1, 3))]
    return nodes, dependencies, apps_of(random, random.randint(least, 10), dependencies)


def _asking(random: Random, seed: int) -> tuple[VirtualCluster, str, list[App]] | None:
    """A cluster, its first dependency, and the workloads that ask it; None if these are fewer than three."""
    nodes, dependencies, apps = _setting(random)
    name = dependencies[0]
    hit = [app for app in apps if name in app.asks]
    return (_cluster(random, seed, nodes, apps, dependencies), name, hit) if len(hit) >= 3 else None


def _shared(random: Random, seed: int) -> World | None:
    """A dependency of three workloads and more is slow, refuses or hangs."""
    made = _asking(random, seed)
    if made is None:
        return None
    cluster, name, hit = made
    fault: Fault = random.choice(
        (
            DependencySlow(name, f"{random.choice((3.5, 5, 10))}s"),
            DependencySlow(name, {"p50": "4s", "p99": "12s"}),
            DependencyDown(name),
            DependencyDown(name, hangs=True),
        )
    )
    return _played(cluster, fault, "dependency", "shared", name, hit, random)


def _gone(random: Random, seed: int) -> World | None:
    """A dependency is gone: some of the workloads that ask it are refused, the others wait in vain."""
    made = _asking(random, seed)
    if made is None:
        return None
    cluster, name, hit = made
    for app in random.sample(hit, random.randint(1, len(hit) - 1)):
        cluster.fault(Partition(app.name, dependency=name))
    return _played(cluster, DependencyDown(name), "dependency gone", "shared", name, hit, random)


def _rollout(random: Random, seed: int) -> World | None:
    """A workload gets a version that crashes, answers too late, or never starts up."""
    nodes, dependencies, apps = _setting(random)
    app = random.choice(apps)
    if app.replicas < 2:
        return None
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    bad = random.choice(
        (
            _behaviour(app, exits_after=f"{random.choice((2, 10, 30))}s"),
            _behaviour(app, latency="5s"),
        )
    )
    name = f"default/{app.kind}/{app.name}"
    return _played(cluster, Rollout(app.name, bad), "rollout", "workload", name, [app], random, ROLLOUT_SECONDS)


def _workload(random: Random, seed: int) -> World | None:
    """All pods of a workload stand still at once, as after a change of its configuration."""
    nodes, dependencies, apps = _setting(random)
    app = random.choice(apps)
    if app.replicas < 2:
        return None
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    name = f"default/{app.kind}/{app.name}"
    return _played(cluster, Deadlock(app.name), "workload", "workload", name, [app], random)


def _on_node(cluster: VirtualCluster, node: str, apps: list[App]) -> list[App]:
    names = {pod.workload for pod in cluster.history.pods if pod.node == node}
    return [app for app in apps if app.name in names]


def _node_slow(random: Random, seed: int) -> World | None:
    """Everything on one node takes far longer."""
    nodes, dependencies, apps = _setting(random)
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    node = random.choice(cluster.nodes)
    hit = _on_node(cluster, node, apps)
    if len(hit) < 2 or (nodes == 1 and not all("livenessProbe" in app.probes for app in hit[:2])):
        return None
    return _played(cluster, NodeSlow(node, float(random.choice((200, 500)))), "node slow", "node", node, hit, random)


def _node_cut(random: Random, seed: int) -> World | None:
    """One node reaches nothing beyond itself."""
    nodes, dependencies, apps = _setting(random)
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    node = random.choice(cluster.nodes)
    hit = [app for app in _on_node(cluster, node, apps) if app.asks]
    if len(hit) < 2 or nodes == 1:
        return None
    return _played(cluster, Partition(node), "node cut off", "node", node, hit, random)


def _prober(random: Random, seed: int) -> World | None:
    """The prober of one node gets too little processor time."""
    nodes, dependencies, apps = _setting(random)
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    node = random.choice(cluster.nodes)
    hit = _on_node(cluster, node, apps)
    if not hit:
        return None
    late = random.choice(("980ms", "1500ms", "4s"))
    if late != "4s" and not any(probe.get("timeoutSeconds") == 1 for app in hit for probe in app.probes.values()):
        return None
    return _played(cluster, ProberStarved(node, late), "prober starved", "prober", node, hit, random)


def _container(random: Random, seed: int) -> World | None:
    """One container stands still."""
    nodes, dependencies, apps = _setting(random)
    app = random.choice(apps)
    cluster = _cluster(random, seed, nodes, apps, dependencies)
    first = min(
        (pod.name for pod in cluster.history.pods if pod.workload == app.name), key=lambda name: (len(name), name)
    )
    value = f"default/{first}/app"
    return _played(cluster, Deadlock(app.name, replicas=1), "one container", "container", value, [app], random)


FAULTS: Final[tuple[Callable[[Random, int], World | None], ...]] = (
    _shared, _gone, _rollout, _workload, _node_slow, _node_cut, _prober, _container,
)  # fmt: skip
