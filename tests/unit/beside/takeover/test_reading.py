"""An agent reads the annotation of a pod, which may be a person's."""

import copy
from typing import Any

import msgspec
import pytest
from probelet.beside.takeover import ENHANCED_LIVENESS, PROBES_ANNOTATION, Reading, read
from probelet.spec import Pod, decode_pod

from tests.unit.beside.takeover.pods import LIVENESS, READINESS, STARTUP, Json, called, container, native, pod

WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS, startupProbe=STARTUP)


def api(value: Json) -> Pod:
    return decode_pod(msgspec.json.encode({**value, "metadata": {"namespace": "default", **value["metadata"]}}))


def reading(entries: Any, value: Json) -> Reading:
    text = entries if isinstance(entries, str) else msgspec.json.encode(entries).decode()
    return read(text, api(value), own_namespace="probelet-system")


def kinds(result: Reading) -> dict[str, list[str]]:
    return {name: list(probes) for name, probes in result.probes.items()}


def test_what_the_webhook_wrote_is_read_back_without_a_problem() -> None:
    sidecar = container("proxy", restartPolicy="Always", readinessProbe=READINESS)
    after, _ = called(pod(WEB, init=(sidecar,)))
    result = read(after["metadata"]["annotations"][PROBES_ANNOTATION], api(after), own_namespace="probelet-system")
    assert (kinds(result), result.problems, result.has_gate) == (
        {"proxy": ["readiness"], "app": ["liveness", "readiness"]},
        (),
        True,
    )
    assert result.probes["app"]["readiness"].success_threshold == 2


def test_missing_fields_get_the_api_servers_defaults() -> None:
    result = reading({"app": {"livenessProbe": {"httpGet": {"port": 80}}}}, pod(container()))
    probe = result.probes["app"]["liveness"]
    assert (probe.period_seconds, probe.timeout_seconds, probe.failure_threshold) == (10, 1, 3)
    assert probe.http_get is not None
    assert (probe.http_get.path, probe.http_get.scheme) == ("/", "HTTP")


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '{"app":{"livenessProbe":[]}}', '{"app":{"x":{}}}'])
def test_an_unreadable_annotation_is_one_problem(text: str) -> None:
    result = reading(text, pod(container()))
    assert (dict(result.probes), len(result.problems)) == ({}, 1)
    assert result.problems[0].startswith("probelet.dev/probes: ")


def test_the_probe_in_the_spec_is_the_kubelets() -> None:
    value = pod(container(livenessProbe=LIVENESS))
    result = reading({"app": {"livenessProbe": STARTUP, "readinessProbe": READINESS}}, value)
    assert kinds(result) == {"app": ["readiness"]}
    assert 'livenessProbe of container "app": the kubelet runs the one in the pod\'s spec' in result.problems[0]


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        ({"tcpSocket": {"port": 80, "host": "169.254.169.254"}}, "dials no address but the pod's own"),
        ({**LIVENESS, "futureField": 1}, "futureField is a field that this release"),
        ({**LIVENESS, "periodSeconds": -1}, "periodSeconds: Invalid value: -1"),
        ({**LIVENESS, "periodSeconds": "1"}, "Expected `int`, got `str`"),
        ({}, "must specify a handler type"),
    ],
)
def test_a_bad_probe_costs_its_container_and_no_other(probe: Json, words: str) -> None:
    entries = {"app": {"livenessProbe": probe, "startupProbe": STARTUP}, "b": {"readinessProbe": READINESS}}
    result = reading(
        entries, pod(container(), container("b"), readinessGates=[{"conditionType": "probelet.dev/ready"}])
    )
    assert kinds(result) == {"b": ["readiness"]}
    assert len(result.problems) == 1
    assert words in result.problems[0]


def test_containers_that_may_have_no_probes_are_unknown() -> None:
    value = pod(container(), init=(container("job"),))
    value["spec"]["ephemeralContainers"] = [container("debug")]
    for name in ("job", "debug", "other"):
        result = reading({name: {"livenessProbe": LIVENESS}}, value)
        assert (dict(result.probes), len(result.problems)) == ({}, 1)
        assert f'no container "{name}"' in result.problems[0]


def test_an_unknown_container_hides_no_other() -> None:
    result = reading({"gone": {"livenessProbe": LIVENESS}, "app": {"livenessProbe": LIVENESS}}, pod(container()))
    assert (kinds(result), len(result.problems)) == ({"app": ["liveness"]}, 1)


def test_whose_readiness_nobody_knows() -> None:
    hosted = {**READINESS, "httpGet": {"port": 80, "host": "10.0.0.1"}}
    value = pod(*(container(name) for name in "abcd"), container("e", readinessProbe=READINESS))
    entries = {
        "a": {"readinessProbe": READINESS},
        "b": {"readinessProbe": {**READINESS, "periodSeconds": -1}},
        "c": {"livenessProbe": {**LIVENESS, "periodSeconds": -1}},
        "e": {"readinessProbe": READINESS},
    }
    assert reading(entries, value).unprobed == {"b"}
    assert reading({**entries, "d": {"startupProbe": hosted}}, value).unprobed == {"b", "d"}
    assert reading("{", value).unprobed == set("abcde")


def test_liveness_belongs_to_enhanced_liveness() -> None:
    value = pod(container(), annotations={ENHANCED_LIVENESS: "true"})
    result = reading({"app": {"livenessProbe": LIVENESS, "readinessProbe": READINESS}}, value)
    assert kinds(result) == {"app": ["readiness"]}
    assert "it belongs to enhanced liveness" in result.problems[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}, "mirror pod"),
        ({"metadata": {"namespace": "probelet-system"}}, "probelet's own"),
        ({"spec": {"os": {"name": "windows"}, "containers": [container()]}}, "Windows"),
    ],
)
def test_pods_that_are_not_for_the_agent(change: Json, words: str) -> None:
    result = reading({"app": {"livenessProbe": LIVENESS}}, {**pod(container()), **change})
    assert (dict(result.probes), len(result.problems)) == ({}, 1)
    assert words in result.problems[0]


def test_a_restart_that_depends_on_the_exit_code_is_not_the_agents() -> None:
    result = reading({"app": {"livenessProbe": LIVENESS}}, pod(container(), restartPolicy="OnFailure"))
    assert dict(result.probes) == {}
    assert "restartPolicy OnFailure" in result.problems[0]


def test_the_lack_of_a_gate_is_a_problem_and_the_probes_run() -> None:
    result = reading({"app": {"readinessProbe": READINESS}}, pod(container()))
    assert kinds(result) == {"app": ["readiness"]}
    assert "lacks the readiness gate probelet.dev/ready" in result.problems[0]
    assert not result.has_gate


def test_problems_are_printable_lines() -> None:
    result = reading({"a\n\x1b[31m": {"livenessProbe": LIVENESS}}, pod(container()))
    assert all(problem.isprintable() for problem in result.problems)


def test_an_annotation_of_an_earlier_release_has_a_startup_probe_and_it_runs() -> None:
    gate = [{"conditionType": "probelet.dev/ready"}]
    entries = {"app": {"livenessProbe": LIVENESS, "startupProbe": STARTUP}}
    result = reading(entries, pod(container(), readinessGates=gate))
    assert (kinds(result), result.problems) == ({"app": ["liveness", "startup"]}, ())
    hosted = {"app": {"startupProbe": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}}
    assert "dials no address" in reading(hosted, pod(container())).problems[0]


def test_a_startup_probe_that_a_person_gives_to_a_sidecar_orders_the_start_nowhere() -> None:
    sidecar = container("proxy", restartPolicy="Always")
    result = reading({"proxy": {"startupProbe": STARTUP}}, pod(container(), init=(sidecar,)))
    assert dict(result.probes) == {}
    assert "the startupProbe of a sidecar" in result.problems[0]


def test_the_agent_runs_exactly_what_is_no_longer_native() -> None:
    value = pod(
        WEB,
        container("b", livenessProbe={**LIVENESS, "futureField": 1}, startupProbe=STARTUP),
        container("d", livenessProbe=LIVENESS, readinessProbe=READINESS),
        init=(container("c", restartPolicy="Always", livenessProbe=LIVENESS, startupProbe=STARTUP),),
    )
    after, _ = called(copy.deepcopy(value))
    result = read(after["metadata"]["annotations"][PROBES_ANNOTATION], api(after), own_namespace="probelet-system")
    ours = {f"{name}/{kind}" for name, probes in result.probes.items() for kind in probes}
    assert ours | set(native(after)) == set(native(value))
    assert not ours & set(native(after))
    assert result.problems == ()
