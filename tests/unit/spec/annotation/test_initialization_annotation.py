"""initializationFailureThreshold as an annotation."""

import pytest
from probelet.spec.annotation.initialization import ANNOTATION, PATH, fold_annotation

from tests.unit.spec.pods import pod_of

EXEC = {"exec": {"command": ["true"]}}


def folded(text: str, **probe: int) -> tuple[dict[str, int], list[str]]:
    spec = {
        "containers": [{"name": "app", "livenessProbe": EXEC | probe, "readinessProbe": EXEC}, {"name": "other"}],
        "initContainers": [{"name": "proxy", "restartPolicy": "Always", "startupProbe": EXEC}],
    }
    pod = pod_of(spec, annotations={ANNOTATION: text})
    before = pod.spec.containers[0].liveness_probe
    result, errors = fold_annotation(pod)
    assert pod.spec.containers[0].liveness_probe == before
    thresholds = {
        path.rpartition(".")[2]: probe.initialization_failure_threshold
        for path, probe in result.spec.each_probe()
        if probe.initialization_failure_threshold
    }
    return thresholds, [str(error) for error in errors]


def test_each_entry_sets_its_probes_threshold() -> None:
    text = "app/liveness=20, app/readiness=5,proxy/startup=7"
    assert folded(text) == ({"livenessProbe": 20, "readinessProbe": 5, "startupProbe": 7}, [])


def test_an_entry_equal_to_the_field_is_no_contradiction() -> None:
    assert folded("app/liveness=20", initializationFailureThreshold=20) == ({"livenessProbe": 20}, [])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'Invalid value: "": must be a list such as app/liveness=20,app/readiness=5'),
        ("app=3", 'Invalid value: "app=3": must be a list such as app/liveness=20,app/readiness=5'),
        ("app/liveness=-3", 'Invalid value: "app/liveness=-3": must be a list such as app/liveness=20,app/readiness=5'),
        (
            "app/liveness=2147483648",
            'Invalid value: "app/liveness=2147483648": must be a list such as app/liveness=20,app/readiness=5',
        ),
        ("app/startup=3", 'Invalid value: "app/startup": the pod has no such probe'),
        ("nobody/liveness=3", 'Invalid value: "nobody/liveness": the pod has no such probe'),
        ("app/liveness=9,app/liveness=9", 'Duplicate value: "app/liveness"'),
    ],
)
def test_a_bad_entry_is_named_and_the_good_ones_count(text: str, error: str) -> None:
    thresholds, errors = folded(f"app/readiness=5,{text}")
    assert thresholds["readinessProbe"] == 5
    assert errors == [f"{PATH}: {error}"]


def test_field_and_annotation_must_not_contradict_each_other() -> None:
    assert folded("app/liveness=20", initializationFailureThreshold=9) == (
        {"livenessProbe": 9},
        [f'{PATH}: Invalid value: "app/liveness=20": the probe\'s own initializationFailureThreshold is 9'],
    )


def test_without_the_annotation_the_pod_is_the_same_object() -> None:
    pod = pod_of({"containers": [{"name": "app", "livenessProbe": EXEC}]})
    assert fold_annotation(pod) == (pod, [])
