"""The options of probes as an annotation: what they say, and what is a mistake."""

import json
from typing import Any

import pytest
from probelet.spec.annotation.probe_options import ANNOTATION, PATH, fold_options
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe_options import (
    ErrorRule,
    FailureWindow,
    Hysteresis,
    OptionDefaults,
    ProbeOptions,
    options_of,
)
from probelet.spec.read.json import encode_pod
from probelet.spec.rules.defaults import set_defaults

from tests.unit.spec.pods import pod_of

EXEC = {"exec": {"command": ["true"]}}
SPEC = {
    "containers": [{"name": "app", "livenessProbe": EXEC, "readinessProbe": EXEC}, {"name": "other"}],
    "initContainers": [{"name": "proxy", "restartPolicy": "Always", "startupProbe": EXEC}],
}


def folded(value: Any) -> tuple[Pod, list[str]]:
    text = value if isinstance(value, str) else json.dumps(value)
    pod, errors = fold_options(set_defaults(pod_of(SPEC, annotations={ANNOTATION: text})))
    return pod, [str(error) for error in errors]


def mistakes(liveness: Any) -> list[str]:
    """The mistakes of the liveness probe's options, without the path of the annotation."""
    pod, errors = folded({"app": {"livenessProbe": liveness}})
    assert not any(options_of(probe) != ProbeOptions() for _, probe in pod.spec.each_probe())
    assert all(error.startswith(f"{PATH}.app.livenessProbe") for error in errors)
    return [error.removeprefix(f"{PATH}.app.livenessProbe") for error in errors]


def test_each_probe_gets_its_own_options() -> None:
    pod, errors = folded(
        {
            "app": {
                "livenessProbe": {"failures": {"of": 10, "at": 4}},
                "readinessProbe": {"errors": {"failureAfter": 3}},
            },
            "proxy": {"startupProbe": {}},
        }
    )
    assert errors == []
    found = {path.rpartition(".")[2]: options_of(probe) for path, probe in pod.spec.each_probe()}
    assert found == {
        "livenessProbe": ProbeOptions(failures=FailureWindow(of=10, at=4)),
        "readinessProbe": ProbeOptions(errors=ErrorRule(failure_after=3)),
        "startupProbe": ProbeOptions(),
    }


def test_the_engine_gets_them_as_a_field_of_the_probe() -> None:
    pod, _ = folded(
        {"app": {"livenessProbe": {"failures": {"of": 10, "at": 4}, "errors": {"failureAfter": 1, "causes": ["cri"]}}}}
    )
    probe = json.loads(encode_pod(pod))["spec"]["containers"][0]["livenessProbe"]
    assert probe["options"] == {"failures": {"of": 10, "at": 4}, "errors": {"failureAfter": 1, "causes": ["cri"]}}


def test_times_are_milliseconds() -> None:
    pod, errors = folded(
        {"app": {"livenessProbe": {"periodMilliseconds": 250, "untilReady": "50ms", "whenFailing": "1s"}}}
    )
    assert errors == []
    liveness = pod.spec.containers[0].liveness_probe
    assert liveness is not None
    assert options_of(liveness) == ProbeOptions(
        period_milliseconds=250, until_ready_milliseconds=50, when_failing_milliseconds=1000
    )


def test_a_hysteresis_is_shorter_than_the_timeout() -> None:
    pod, errors = folded({"app": {"readinessProbe": {"hysteresis": {"slowerThan": "300ms"}}}})
    assert errors == []
    readiness = pod.spec.containers[0].readiness_probe
    assert readiness is not None
    assert options_of(readiness) == ProbeOptions(hysteresis=Hysteresis(slower_than_milliseconds=300))
    _, errors = folded({"app": {"readinessProbe": {"hysteresis": {"slowerThan": "1s"}}}})
    path = f"{PATH}.app.readinessProbe.hysteresis.slowerThan"
    assert errors == [f'{path}: Invalid value: "1000ms": must be shorter than timeoutSeconds, 1 s']


NODE: OptionDefaults = {
    "liveness": ProbeOptions(when_failing_milliseconds=500, errors=ErrorRule(failure_after=3)),
    "startup": ProbeOptions(until_ready_milliseconds=60_000),
}


def test_the_annotation_goes_before_the_options_of_the_node() -> None:
    text = json.dumps({"app": {"livenessProbe": {"whenFailing": "1s", "errors": None}}})
    pod, errors = fold_options(set_defaults(pod_of(SPEC, annotations={ANNOTATION: text})), NODE)
    assert errors == []
    found = {path.rpartition(".")[2]: options_of(probe) for path, probe in pod.spec.each_probe()}
    assert found == {
        "livenessProbe": ProbeOptions(when_failing_milliseconds=1000),
        "readinessProbe": ProbeOptions(),
        "startupProbe": ProbeOptions(),
    }, "a minute is longer than the startup probe's own period, so it is no option of that"


INSIDE: OptionDefaults = {
    "liveness": ProbeOptions(network="pod", network_fallback="ordinary", errors=ErrorRule(failure_after=3))
}


@pytest.mark.parametrize(
    ("handler", "named", "expected"),
    [
        ({"tcpSocket": {"port": 1}}, None, INSIDE["liveness"]),
        ({"tcpSocket": {"port": 1}}, {"network": None}, ProbeOptions(errors=ErrorRule(failure_after=3))),
        (
            {"tcpSocket": {"port": 1}},
            {"networkFallback": "error", "errors": None},
            ProbeOptions(network="pod", network_fallback="error"),
        ),
        (EXEC, None, ProbeOptions(errors=ErrorRule(failure_after=3))),
        (EXEC, {"whenFailing": "1s", "errors": None}, ProbeOptions(when_failing_milliseconds=1000)),
    ],
)
def test_the_network_of_the_node_is_for_probes_that_connect(handler: Any, named: Any, expected: ProbeOptions) -> None:
    spec = {"containers": [{"name": "app", "livenessProbe": handler}]}
    annotations = {} if named is None else {ANNOTATION: json.dumps({"app": {"livenessProbe": named}})}
    pod, errors = fold_options(set_defaults(pod_of(spec, annotations=annotations)), INSIDE)
    liveness = pod.spec.containers[0].liveness_probe
    assert liveness is not None
    assert (errors, options_of(liveness)) == ([], expected)


def test_a_pod_with_a_mistake_has_the_options_of_the_node() -> None:
    pod, errors = fold_options(set_defaults(pod_of(SPEC, annotations={ANNOTATION: "{"})), NODE)
    assert len(errors) == 1
    liveness = pod.spec.containers[0].liveness_probe
    assert liveness is not None
    assert options_of(liveness) == NODE["liveness"]


def test_a_pod_without_the_annotation_stays_as_it_is() -> None:
    pod = set_defaults(pod_of(SPEC))
    assert fold_options(pod) == (pod, [])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"failure": 3}, ".failure: Forbidden: no such option; allowed: errors, failures, "),
        ({"failures": 3}, ".failures: Invalid value: 3: must be an object, as in "),
        ({"failures": {"of": 10}}, ".failures.at: Required value"),
        (
            {"failures": {"of": 4, "at": 10}},
            ".failures.at: Invalid value: 10: must not be above of, 4: no window has more failures than runs",
        ),
        ({"failures": {"of": 65, "at": 1}}, ".failures.of: Invalid value: 65: must be a whole number from 1 to 64"),
        ({"failures": {"of": 1, "at": 0}}, ".failures.at: Invalid value: 0: must be a whole number from 1 to 64"),
        ({"failures": {"of": True, "at": 1}}, ".failures.of: Invalid value: true: must be a whole number from 1 to 64"),
        ({"failures": {"of": 2, "at": 1, "in": 3}}, ".failures.in: Forbidden: no such member; allowed: of, at"),
        (
            {"errors": {"failureAfter": 0}},
            ".errors.failureAfter: Invalid value: 0: must be a whole number from 1 to 2147483647",
        ),
        ({"errors": {}}, ".errors.failureAfter: Required value"),
        ({"periodMilliseconds": 49}, ".periodMilliseconds: Invalid value: 49: must be a whole number of at least 50"),
        ({"periodMilliseconds": "1s"}, '.periodMilliseconds: Invalid value: "1s": must be a whole number of at least'),
        (
            {"periodMilliseconds": 10_000},
            '.periodMilliseconds: Invalid value: "10000ms": must be shorter than periodSeconds, 10 s',
        ),
        (
            {"untilReady": "49ms"},
            '.untilReady: Invalid value: "49ms": must be a duration of whole milliseconds and at least 50ms',
        ),
        ({"untilReady": "50.5ms"}, '.untilReady: Invalid value: "50.5ms": must be a duration of whole milliseconds'),
        ({"whenFailing": 1}, ".whenFailing: Invalid value: 1: must be a duration of whole milliseconds"),
        ({"whenFailing": "1 s"}, '.whenFailing: Invalid value: "1 s": must be a duration of whole milliseconds'),
        ({"whenFailing": "10s"}, '.whenFailing: Invalid value: "10000ms": must be shorter than periodSeconds, 10 s'),
        ([], ": Invalid value: []: must be an object, as in "),
        (
            {"errors": {"failureAfter": 2, "causes": ["cri", "starved"]}},
            '.errors.causes: Invalid value: ["cri","starved"]: must be a list of at least one of body, cri, ',
        ),
        (
            {"errors": {"failureAfter": 2, "causes": []}},
            ".errors.causes: Invalid value: []: must be a list of at least",
        ),
        ({"hysteresis": {"slowerThan": "1s"}}, ".hysteresis: Forbidden: a liveness probe never makes a container well"),
        ({"hysteresis": {}}, ".hysteresis.slowerThan: Required value"),
        ({"hysteresis": {"slower": 1}}, ".hysteresis.slower: Forbidden: no such member; allowed: slowerThan"),
        (
            {"hysteresis": {"slowerThan": 300}},
            ".hysteresis.slowerThan: Invalid value: 300: must be a duration of whole",
        ),
    ],
)
def test_a_mistake_is_named_with_its_path_and_no_option_applies(options: Any, error: str) -> None:
    (found,) = mistakes(options)
    assert found.startswith(error)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("{", f'{PATH}: Invalid value: "{{": must be JSON such as '),
        ("[" * 100_000, f"{PATH}: Invalid value: "),
        ("[]", f"{PATH}: Invalid value: []: must be an object, as in "),
        ({"nobody": {}}, f'{PATH}.nobody: Invalid value: "nobody": the pod has no such container'),
        ({"app": {"startupProbe": {}}}, f"{PATH}.app.startupProbe: "),
        ({"app": {"liveness": {}}}, f"{PATH}.app.liveness: Forbidden: no such probe; allowed: livenessProbe, "),
        ('{"app": {}, "app": {}}', f'{PATH}: Duplicate value: "app"'),
    ],
)
def test_what_is_of_no_probe_is_a_mistake(value: Any, error: str) -> None:
    pod, (found,) = folded(value)
    assert found.startswith(error)
    assert pod.spec.containers[0].liveness_probe == set_defaults(pod_of(SPEC)).spec.containers[0].liveness_probe


def test_every_mistake_is_reported_at_once() -> None:
    assert len(mistakes({"failures": {"of": 0, "at": 0}, "errors": {"failureAfter": -1}, "what": 1})) == 4


def test_a_probe_over_a_socket_may_be_made_from_inside_its_pod() -> None:
    spec = {"containers": [{"name": "app", "livenessProbe": {"tcpSocket": {"port": 80}}, "readinessProbe": EXEC}]}

    def read(options: Any) -> tuple[ProbeOptions, list[str]]:
        text = json.dumps({"app": options})
        pod, errors = fold_options(set_defaults(pod_of(spec, annotations={ANNOTATION: text})))
        probe = pod.spec.containers[0].liveness_probe
        assert probe is not None
        return options_of(probe), [str(error).removeprefix(f"{PATH}.app.") for error in errors]

    inside = {"network": "pod", "networkFallback": "ordinary"}
    assert read({"livenessProbe": inside}) == (ProbeOptions(network="pod", network_fallback="ordinary"), [])
    for options, mistake in (
        (
            {"livenessProbe": {"network": "host"}},
            'livenessProbe.network: Unsupported value: "host": supported values: pod',
        ),
        (
            {"livenessProbe": {"network": "pod", "networkFallback": True}},
            "livenessProbe.networkFallback: Unsupported value: true: supported values: error, ordinary",
        ),
        (
            {"livenessProbe": {"networkFallback": "error"}},
            "livenessProbe.networkFallback: Forbidden: applies only beside network: pod",
        ),
        (
            {"readinessProbe": {"network": "pod"}},
            "readinessProbe.network: Forbidden: an exec probe runs inside its container already; allowed for httpGet, "
            "tcpSocket and grpc",
        ),
    ):
        assert read(options) == (ProbeOptions(), [mistake])
