"""A bad rollout of a thousand pods, with each kubelet deciding and with the whole cluster deciding, as one picture.

The new version serves well, but its liveness probe takes 3 s and has a timeout of 1 s: somebody has put a slow query
into it. Kubelets restart every container again and again until all of them wait in crash-loop back-off. With enhanced
liveness one place knows all failures. It restarts ten containers a minute at most, and one after the other.

    python examples/guard/bad_rollout.py bad-rollout.svg
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from probelet.lab.picture.chart.compared import Panel, Series, compared
from probelet.virtual.cluster import Behaviour, History, VirtualCluster

MINUTES = 20
ROLLOUT_SECONDS = 60.0


def deployment(name: str, replicas: int) -> str:
    """A Deployment whose container has a liveness probe."""
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10, "timeoutSeconds": 1}
    containers = [{"name": "app", "image": "shop", "livenessProbe": probe}]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec})


def play(pods: int, *, guarded: bool) -> History:
    """The rollout of ``pods`` pods beside another workload that nothing happens to."""
    cluster = VirtualCluster(
        deployment("shop", pods), deployment("other", pods // 2), nodes=max(2, pods // 100), seed=7
    )
    good = Behaviour(startup="5s", latency="20ms")
    cluster.behave("shop", good)
    if guarded:
        cluster.guard()
    cluster.run(f"{ROLLOUT_SECONDS:g}s")
    cluster.rollout("shop", behaviour=Behaviour(startup="5s", latency="20ms", probe_latency="3s", probes="apart"))
    cluster.run(f"{MINUTES * 60 - ROLLOUT_SECONDS:g}s")
    return cluster.history


def ready(history: History, workload: str) -> Iterator[tuple[float, float]]:
    """How many pods of a workload are ready, at each change."""
    changes: dict[float, int] = {0.0: 0}
    for pod in history.pods:
        if pod.workload == workload:
            for span in pod.spans:
                if span.state == "ready":
                    changes[span.start] = changes.get(span.start, 0) + 1
                    changes[span.end] = changes.get(span.end, 0) - 1
    count = 0
    for at in sorted(changes):
        if at < history.now:
            count += changes[at]
            yield at, count


def killed(history: History) -> Iterator[tuple[float, float]]:
    """How many containers a probe has had killed so far."""
    yield 0.0, 0
    for number, kill in enumerate(history.kills, 1):
        yield kill.at, number


def picture(pods: int) -> str:
    """Both plays as an SVG."""
    plays = {"the cluster decides": play(pods, guarded=True), "each kubelet decides": play(pods, guarded=False)}
    panels = [
        Panel("Ready pods", [Series(name, list(ready(each, "shop"))) for name, each in plays.items()]),
        Panel("Kills", [Series(name, list(killed(each))) for name, each in plays.items()]),
    ]
    title = f"A liveness probe that always fails is rolled out to {pods:,} pods"
    return compared(title, panels, MINUTES * 60, (ROLLOUT_SECONDS, "rollout"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(int(sys.argv[2]) if len(sys.argv) > 2 else 1_000))
