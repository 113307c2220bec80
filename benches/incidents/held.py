"""Requests lost and kills with ``holdKills: shared`` and without: random clusters, and the scenarios that come along.

A random cluster is one of ``world``, with traffic, with faults that end, and with liveness probes half of which ask
what the readiness probe asks, which makes them deadly. In ``wedged`` a dependency fails and everything that asks it
stands still from then on: a restart would mend that at once.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from probelet import VirtualCluster
from probelet.lab.scenario.read import load_scenario
from probelet.lab.simulate.manifests import read_manifests
from probelet.lab.simulate.playing import Play, Setting
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.text.duration import SECOND
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

from benches.incidents.world import LATENCY, SETTLED, App, apps_of

RATE: Final = 10
"""Requests a second for each replica."""
LASTS: Final = (30, 60, 120, 300, 600, 1200)
"""Seconds that a fault goes on."""
RECOVERY: Final = 900
"""Seconds that are played after it: longer than the longest back-off."""
DEADLY: Final = 0.5
"""The share of liveness probes that ask what the readiness probe asks."""
MANY: Final = 5
REPLICAS: Final = 3

Draw: TypeAlias = Callable[[Random, VirtualCluster, list[App], int], list[Fault]]
"""Draws the faults of a cluster; the last argument is how many seconds they last."""


def held(seed: int) -> dict[str, Any]:
    """A random cluster, played twice."""
    fault = list(FAULTS)[seed % len(FAULTS)]
    return {"seed": seed, "fault": fault, **_both(lambda choice: _random(seed, FAULTS[fault], choice))}


def held_scenario(name: str, *, deadly: bool) -> dict[str, Any]:
    """A scenario that comes with probelet, played twice, with five workloads of three replicas. ``deadly``: liveness
    has the path of readiness."""
    return {"scenario": name, "deadly": deadly, **_both(lambda choice: _scenario(name, choice, deadly=deadly))}


def _both(play: Callable[[HoldChoice], dict[str, float]]) -> dict[str, Any]:
    return {"off": play("off"), "shared": play("shared")}


def _random(seed: int, draw: Draw, choice: HoldChoice) -> dict[str, float]:
    random = Random(seed)
    dependencies = [f"dep-{number}" for number in range(random.randint(1, 3))]
    apps = apps_of(random, random.randint(4, 10), dependencies)
    nodes = random.choice((1, 1, 2, 3, 4))
    cluster = VirtualCluster([app.manifest() for app in apps], nodes=nodes, seed=seed, hold_kills=choice)
    for name in dependencies:
        cluster.dependency(name, "10ms")
    for app in apps:
        asks = {"readiness": app.asks, "requests": app.asks} if app.asks else {}
        if app.asks and random.random() < DEADLY:
            asks["liveness"] = app.asks
        cluster.behave(app.name, startup=f"{app.startup}s", latency=LATENCY, asks=asks)
    cluster.run(f"{SETTLED + random.randrange(20_000) / 1_000:.3f}s")
    for app in apps:
        cluster.traffic(app.name, RATE * app.replicas, timeout="2s")
    lasts = random.choice(LASTS)
    faults = draw(random, cluster, apps, lasts)
    cluster.fault(*faults)
    cluster.run(f"{lasts + RECOVERY}s")
    return _figures(cluster)


def _figures(cluster: VirtualCluster) -> dict[str, float]:
    total = [cluster.requests(name) for name in cluster.services]
    return {
        "offered": round(sum(each.offered for each in total)),
        "lost": round(sum(each.lost for each in total)),
        "kills": len(cluster.kills),
    }


def _scenario(name: str, choice: HoldChoice, *, deadly: bool) -> dict[str, float]:
    file = load_scenario(name)
    apps = [_app(number, deadly=deadly).manifest() for number in range(MANY)]
    manifests = read_manifests([apps])
    play = Play(Setting(file, 1, "1.36", hold_kills=choice), manifests.objects, manifests)
    began = play.settle()
    played = play.go(began, file.scenario.duration / SECOND)
    total = [each.totals for each in played.history.services]
    return {
        "offered": round(sum(each.offered for each in total)),
        "lost": round(sum(each.lost for each in total)),
        "kills": len(played.history.kills),
    }


def _app(number: int, *, deadly: bool) -> App:
    probe = {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3}
    probes = {
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 80}, **probe},
        "livenessProbe": {"httpGet": {"path": "/ready" if deadly else "/live", "port": 80}, **probe},
    }
    return App(f"app-{number}", REPLICAS, "Deployment", 0, (), probes)


# What breaks.


def _dependency(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    name = _most_asked(apps)
    return [
        random.choice(
            (
                DependencySlow(name, f"{random.choice((1.5, 3.5, 10))}s", lasts=f"{lasts}s"),
                DependencySlow(name, {"p50": "1s", "p99": "8s"}, lasts=f"{lasts}s"),
                DependencyDown(name, lasts=f"{lasts}s"),
                DependencyDown(name, hangs=True, lasts=f"{lasts}s"),
            )
        )
    ]


def _wedged(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    name = _most_asked(apps)
    at = f"{cluster.now + random.random() * min(lasts, 20):.3f}s"
    asking = [app for app in apps if name in app.asks]
    return [DependencyDown(name, lasts=f"{lasts}s"), *(Deadlock(app.name, at=at) for app in asking)]


def _rollout(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    app = random.choice(apps)
    bad = Behaviour(startup=f"{app.startup}s", latency="5s")
    return [Rollout(app.name, bad)]


def _workload(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    return [Deadlock(random.choice(apps).name)]


def _node_slow(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    return [NodeSlow(random.choice(cluster.nodes), float(random.choice((100, 500))), lasts=f"{lasts}s")]


def _node_cut(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    return [Partition(random.choice(cluster.nodes), lasts=f"{lasts}s")]


def _prober(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    late = random.choice(("980ms", "1500ms", "4s"))
    return [ProberStarved(random.choice(cluster.nodes), late, lasts=f"{lasts}s")]


def _container(random: Random, cluster: VirtualCluster, apps: list[App], lasts: int) -> list[Fault]:
    return [Deadlock(random.choice(apps).name, replicas=1)]


def _most_asked(apps: list[App]) -> str:
    return max((name for app in apps for name in app.asks), key=lambda name: sum(name in app.asks for app in apps),
               default="dep-0")  # fmt: skip


FAULTS: Final[dict[str, Draw]] = {
    "dependency": _dependency,
    "wedged": _wedged,
    "rollout": _rollout,
    "workload": _workload,
    "node slow": _node_slow,
    "node cut off": _node_cut,
    "prober starved": _prober,
    "one container": _container,
}
