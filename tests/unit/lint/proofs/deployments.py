"""Deployments for proofs: probes with random timings that ask what a rule looks for, in front of a Service."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from probelet.lab.explain import Timing
from probelet.lint.finding import Hit
from probelet.lint.model.neighbour import Service
from probelet.lint.model.workload import Scope
from probelet.lint.read.workload import read_workload
from probelet.lint.rule import Rule
from probelet.lint.settings import Settings
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.probe import ProbeType
from probelet.spec.model.service import ServiceSpec
from probelet.spec.read.each_object import RawObject
from probelet.spec.read.kinds import KINDS
from probelet.spec.read.tree import documents

from tests.unit.lab.explain.played import Played
from tests.unit.lint.proofs.configurations import Timings, lengths, played

PATHS: Mapping[ProbeType, str] = {"liveness": "/livez", "readiness": "/readyz", "startup": "/livez"}


def hits_of(
    rule: Rule,
    timings: Timings,
    *,
    paths: Mapping[ProbeType, str] = PATHS,
    replicas: int = 1,
    startup_seconds: float | None = None,
    settings: Settings = Settings(),  # noqa: B008
    image: str = "i",
    spec: Mapping[str, Any] = {},
) -> list[Hit]:
    """The hits of a rule in a Deployment behind a Service; ``spec`` are more fields of the Deployment's spec."""
    probes = {f"{each}Probe": _probe(timing, paths.get(each, PATHS[each])) for each, timing in timings.items()}
    annotations = {} if startup_seconds is None else {"probelet.dev/startup-seconds": f"{startup_seconds:f}"}
    mounts = [{"name": "data", "mountPath": "/data"}]
    container = {"name": "c", "image": image, "volumeMounts": mounts, **probes}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": annotations},
        "spec": {"containers": [container], "volumes": volumes},
    }
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }
    (document,) = documents(json.dumps(manifest))
    scope = Scope(settings)
    scope.neighbours.add(Service(metadata=ObjectMeta(name="web"), spec=ServiceSpec(selector={"app": "web"})))
    raw = RawObject(document.root, "", "apps/v1", "Deployment")
    read = read_workload(raw, KINDS["Deployment"], Path("web.json"), scope)
    assert read is not None
    assert read.refused == []
    return list(rule.check(read.workload))


def _probe(timing: Timing, path: str) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": 8080},
        "initialDelaySeconds": timing.delay,
        "periodSeconds": timing.period,
        "timeoutSeconds": timing.timeout,
        "failureThreshold": timing.failures,
        "successThreshold": timing.successes,
    }


def plain(timings: Timings) -> dict[ProbeType, Timing]:
    """The timings without a threshold of their own before the first success, which no field of Kubernetes sets."""
    return {each: replace(timing, patience=timing.failures) for each, timing in timings.items()}


def spans(message: str) -> list[tuple[int, int]]:
    """The spans of a message in milliseconds: ``20 to 31 s``."""
    return [(1000 * int(least), 1000 * int(most)) for least, most in re.findall(r"(\d+) to (\d+) s\b", message)]


def answers_after(play: Played, types: Iterable[ProbeType], milliseconds: int) -> None:
    """A server that answers everything well, but only after this time: attempts with a shorter timeout fail."""
    for probe_type in types:
        steps = [{"outcome": "hang", "hang_ms": milliseconds}]
        play.sim.script(f"p/c/{probe_type}", json.dumps(steps).encode())


def starts(rng: Random, timings: Timings, start: int) -> Played:
    """A container that answers from ``start`` milliseconds on, with random phases and attempts of random lengths."""
    play = played(rng, timings)
    for probe_type, timing in timings.items():
        play.answer(probe_type, "failure", lengths(rng, timing))
    play.until(start)
    for probe_type in timings:
        play.answer(probe_type, "success", [0])
    return play
