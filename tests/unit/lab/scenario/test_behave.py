"""What a scenario assumes of containers that it does not know."""

from typing import Any

from probelet.lab.scenario import read_scenario
from probelet.lab.scenario.behave import behave, unmatched
from probelet.lab.scenario.pattern import Template
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPGetAction, Probe, TCPSocketAction
from probelet.spec.rules.defaults import set_defaults

HEAD = "apiVersion: probelet.dev/v1alpha1\nkind: Scenario\n"
READY = HTTPGetAction(path="/ready", port=80)
LIVE = HTTPGetAction(path="/live", port=80)


class Noted:
    """Stands in for a cluster: notes what it gets."""

    def __init__(self) -> None:
        self.behaviours: dict[str, Any] = {}
        self.dependencies: list[tuple[str, Any, tuple[str, ...]]] = []

    def behave(self, target: str, behaviour: Any) -> None:
        self.behaviours[target] = behaviour

    def dependency(self, name: str, latency: Any, *, asks: tuple[str, ...]) -> None:
        self.dependencies.append((name, latency, asks))


def web(**probes: Probe) -> dict[str, Template]:
    container = Container(name="app", **probes)  # type: ignore[arg-type]
    pod = Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(containers=[container]))
    return {"web": Template("Deployment", set_defaults(pod))}


def behaviour(text: str, templates: dict[str, Template]) -> tuple[Any, list[str]]:
    noted = Noted()
    assumed = behave(read_scenario(HEAD + text).scenario, noted, templates, {})  # type: ignore[arg-type]
    return noted.behaviours["web/app"], assumed.asks


ASKS = "dependencies: {db: {}}\ncontainers: [{asks: {readiness: [db]}}]"


def test_a_liveness_probe_with_the_same_handler_asks_what_readiness_asks() -> None:
    found, assumed = behaviour(ASKS, web(readiness_probe=Probe(http_get=READY), liveness_probe=Probe(http_get=READY)))
    assert found.asks == {"liveness": ["db"], "readiness": ["db"]}
    assert assumed == ["liveness of web/app asks db", "readiness of web/app asks db"]


def test_one_with_another_handler_does_not() -> None:
    found, _ = behaviour(ASKS, web(readiness_probe=Probe(http_get=READY), liveness_probe=Probe(http_get=LIVE)))
    assert found.asks == {"readiness": ["db"]}


def test_a_scenario_that_says_what_liveness_asks_is_believed() -> None:
    text = "dependencies: {db: {}}\ncontainers: [{asks: {readiness: [db], liveness: []}}]"
    found, _ = behaviour(text, web(readiness_probe=Probe(http_get=READY), liveness_probe=Probe(http_get=READY)))
    assert found.asks == {"readiness": ["db"]}


def test_a_tcp_probe_asks_nothing() -> None:
    found, assumed = behaviour(ASKS, web(readiness_probe=Probe(tcp_socket=TCPSocketAction(port=80))))
    assert (found.asks, assumed) == ({}, [])


def test_by_default_a_container_starts_in_half_of_the_time_that_its_probes_wait_for_sure() -> None:
    patient = Probe(http_get=LIVE, initial_delay_seconds=31, period_seconds=10, failure_threshold=4)
    assert behaviour("", web(liveness_probe=patient))[0].startup == "30s"
    assert behaviour("", web(readiness_probe=patient))[0].startup == "15s"
    startup = Probe(http_get=LIVE, period_seconds=10, failure_threshold=61)
    assert behaviour("", web(liveness_probe=patient, startup_probe=startup))[0].startup == "5m0s"


def test_a_drift_may_be_a_share_of_that_time() -> None:
    patient = Probe(http_get=LIVE, initial_delay_seconds=31, period_seconds=10, failure_threshold=4)
    text = "containers: [{startup: {ofBudget: 0.5, perDayOfBudget: 0.1, perDay: 1s}}]"
    assert behaviour(text, web(liveness_probe=patient))[0].startup == {"p50": "30s", "per_day": "7s"}


def test_each_entry_that_matches_sets_what_it_names() -> None:
    text = (
        "containers: [{latency: 5ms, concurrency: 4}, {match: web/a*, latency: {min: 1ms, max: 2ms}}, {match: other, "
        "latency: 1s}, {match: web, queue: 3}]"
    )
    found, _ = behaviour(text, web())
    assert (found.latency, found.concurrency, found.queue) == ({"min": "1ms", "max": "2ms"}, 4, 3)
    assert list(unmatched(read_scenario(HEAD + text).scenario, web())) == [2]


def test_dependencies_are_provided_after_those_that_they_ask() -> None:
    noted = Noted()
    text = "dependencies: {a: {asks: [b, c]}, b: {asks: [c], latency: {p50: 1ms, p99: 9ms}}, c: {}}"
    behave(read_scenario(HEAD + text).scenario, noted, {}, {})  # type: ignore[arg-type]
    assert noted.dependencies == [
        ("c", "5ms", ()),
        ("b", {"p50": "1ms", "p99": "9ms"}, ("c",)),
        ("a", "5ms", ("b", "c")),
    ]
