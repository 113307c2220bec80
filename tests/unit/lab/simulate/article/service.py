"""The services and the plays of the article's scenarios."""

from collections.abc import Callable
from typing import Any

from probelet.lab.picture.document import VerdictRow
from probelet.lab.scenario import ScenarioFile, read_scenario
from probelet.lab.simulate import play

from tests.unit.lab.simulate.variations import variations

HEAD = "apiVersion: probelet.dev/v1alpha1\nkind: Scenario\n"


def deployment(*probes: str, replicas: int = 3) -> list[dict[str, Any]]:
    """A Deployment ``web`` and its Service. A probe is ``liveness timeoutSeconds=1 periodSeconds=10``."""
    container: dict[str, Any] = {"name": "web", "image": "web", "ports": [{"containerPort": 8080}]}
    for probe in probes:
        kind, *fields = probe.split()
        path = "/readyz" if kind == "readiness" else "/healthz"
        numbers = {name: int(value) for name, value in (field.split("=") for field in fields)}
        container[f"{kind}Probe"] = {"httpGet": {"path": path, "port": 8080}, **numbers}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web"},
            "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
        },
    ]


def scenario(text: str) -> ScenarioFile:
    """A scenario without its first two lines."""
    return read_scenario(HEAD + text)


def verdict(manifests: Any, file: ScenarioFile) -> VerdictRow:
    """What one play comes to."""
    return play(manifests, file, advise=False)["verdict"]


def holds(manifests: Any, file: ScenarioFile, outcome: Callable[[VerdictRow], bool]) -> list[str]:
    """The variations of a scenario in which the outcome is another; empty if it holds in all."""
    found = ((name, verdict(manifests, varied)) for name, varied in variations(file))
    return [f"{name}: {result}" for name, result in found if not outcome(result)]


def whole(result: VerdictRow) -> bool:
    """Nothing left its Service, nothing was killed, nothing was lost."""
    return not (result["unready_pods_max"] or result["kills"] or result["requests"]["lost"])
