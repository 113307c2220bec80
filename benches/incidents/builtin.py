"""The scenarios that come with probelet, with what breaks in each."""

from typing import Final, NamedTuple

from probelet.lab.scenario.read import load_scenario
from probelet.lab.simulate.manifests import read_manifests
from probelet.lab.simulate.playing import Play, Setting
from probelet.policy.incidents import Began, Kind
from probelet.spec.text.duration import SECOND

from benches.incidents.verdict import Verdict, verdict
from benches.incidents.world import App, Truth

RELEASE: Final = "1.36"
PERIOD: Final = 10
REPLICAS: Final = 3
MANY: Final = 5


class Expected(NamedTuple):
    """The truth about a scenario."""

    workloads: int
    kind: Kind | None
    """None: nothing that is an incident."""
    value: str
    what: str
    """What breaks, for the table."""


EXPECTED: Final = {
    "bad-rollout": Expected(1, "workload", "default/Deployment/app-0", "a new version"),
    "deadlock": Expected(1, "container", "default/app-0-v1-0/app", "one container"),
    "dependency-down": Expected(MANY, "shared", "shared", "a dependency"),
    "dependency-slow": Expected(MANY, "shared", "shared", "a dependency"),
    "gc-pause": Expected(1, "container", "", "each container at its own time"),
    "leak": Expected(1, "workload", "default/Deployment/app-0", "all containers of a workload"),
    "node-slow": Expected(MANY, "node", "node-0", "a node"),
    "overload": Expected(1, "workload", "default/Deployment/app-0", "all containers of a workload"),
    "prober-restart": Expected(1, None, "", "nothing; one container ends once"),
    "startup-drift": Expected(1, "workload", "default/Deployment/app-0", "all containers of a workload"),
}


def builtin(name: str) -> tuple[Verdict | None, int]:
    """The verdict about a scenario, and how many incidents began in it."""
    expected = EXPECTED[name]
    file = load_scenario(name)
    apps = [_app(number).manifest() for number in range(expected.workloads)]
    manifests = read_manifests([apps])
    play = Play(Setting(file, 1, RELEASE), manifests.objects, manifests)
    began = play.settle()
    played = play.go(began, file.scenario.duration / SECOND)
    count = sum(isinstance(output, Began) and at >= began for at, output in played.incidents)
    if expected.kind is None:
        return None, count
    at = min((fault.start for fault in played.history.faults), default=began)
    truth = Truth(name, expected.kind, expected.value, at, PERIOD, 0.0)
    return verdict(0, played.incidents, played.history, truth, named=True), count


def _app(number: int) -> App:
    probe = {"periodSeconds": PERIOD, "timeoutSeconds": 1, "failureThreshold": 3}
    probes = {
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 80}, **probe},
        "livenessProbe": {"httpGet": {"path": "/live", "port": 80}, **probe, "failureThreshold": 6},
    }
    return App(f"app-{number}", REPLICAS, "Deployment", 0, (), probes)
