"""A field of a wrong type: one line each, with the type that YAML read."""

import pytest
from probelet.spec import Pod, Problem
from probelet.spec.read.decode import SUGGESTIONS_MAX, decode
from probelet.spec.read.tree import documents


def decoded(text: str) -> tuple[Pod, list[str]]:
    problems: list[Problem] = []
    [document] = documents(text)
    pod = decode(document, Pod, None, problems)
    return pod, [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "metadata: {labels: {a: yes}}",
            "metadata.labels[a]: Invalid value: true: must be a string, not a boolean (YAML reads yes so); "
            'write "yes" in quotes',
        ),
        (
            "metadata: {annotations: {a: true}}",
            'metadata.annotations[a]: Invalid value: true: must be a string, not a boolean; write "true" in quotes',
        ),
        (
            "metadata: {name: 010}",
            'metadata.name: Invalid value: 8: must be a string, not a number; write "010" in quotes',
        ),
        ("metadata: {name: [a]}", 'metadata.name: Invalid value: ["a"]: must be a string, not a list'),
        ("metadata: {name: {a: 1}}", 'metadata.name: Invalid value: {"a":1}: must be a string, not a mapping'),
        ("metadata: a", 'metadata: Invalid value: "a": must be a mapping, not a string'),
        ("spec: {containers: {a: 1}}", 'spec.containers: Invalid value: {"a":1}: must be a list, not a mapping'),
        ("spec: {containers: [5]}", "spec.containers[0]: Invalid value: 5: must be a mapping, not a number"),
        (
            "spec: {containers: [{command: [a, 80]}]}",
            'spec.containers[0].command[1]: Invalid value: 80: must be a string, not a number; write "80" in quotes',
        ),
        (
            "spec: {containers: [{livenessProbe: {tcpSocket: {port: yes}}}]}",
            "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: true: must be an integer or a string, "
            "not a boolean (YAML reads yes so)",
        ),
        (
            "spec: {containers: [{livenessProbe: {timeoutSeconds: 1.5}}]}",
            "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: 1.5: must be an integer, not a fraction",
        ),
        (
            "spec: {containers: [{livenessProbe: {timeoutSeconds: true}}]}",
            "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: true: must be an integer, not a boolean",
        ),
        (
            "spec: {containers: [{livenessProbe: {timeoutSeconds: 2147483648}}]}",
            "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: 2147483648: "
            "must be between -2147483648 and 2147483647, inclusive",
        ),
        ("spec: {hostNetwork: 'yes'}", 'spec.hostNetwork: Invalid value: "yes": must be true or false, not a string'),
        ("speck: {}", "warning: speck: unknown field, ignored; did you mean spec?"),
        ("spec: {xyz: {}}", "warning: spec.xyz: unknown field, ignored"),
    ],
)
def test_one_line_names_the_found_and_the_wanted_type(text: str, expected: str) -> None:
    found = decoded(text)[1]
    assert [line.removeprefix(":1: ") for line in found] == [expected]


def test_every_mistake_is_found_in_one_pass_and_the_rest_is_kept() -> None:
    pod, problems = decoded("metadata: {name: 1, namespace: ok}\nspec: {containers: [5, {name: app, env: 7}]}\n")
    assert len(problems) == 3
    assert pod.metadata.namespace == "ok"
    assert [container.name for container in pod.spec.containers] == ["", "app"]


@pytest.mark.parametrize("number", ["10", "10.0", "1e1", "0xA", "012"])
def test_whole_numbers_in_every_spelling_of_yaml(number: str) -> None:
    pod, problems = decoded(f"spec: {{terminationGracePeriodSeconds: {number}}}")
    assert (pod.spec.termination_grace_period_seconds, problems) == (10, [])


def test_null_is_the_zero_value_everywhere() -> None:
    pod, problems = decoded("metadata: {name: , labels: {a: ~}}\nspec: {containers: [~, {command: [~], ports: ~}]}")
    assert problems == []
    assert pod.metadata.labels == {"a": ""}
    assert pod.spec.containers[1].command == [""]
    assert len(pod.spec.containers) == 2


def test_opaque_fields_are_kept() -> None:
    pod, problems = decoded("spec: {volumes: [{name: a, emptyDir: {}}], nodeSelector: {a: b}}")
    assert problems == []
    assert pod.spec.volumes == [{"name": "a", "emptyDir": {}}]


def test_suggestions_stop_before_they_cost_minutes() -> None:
    found = decoded("".join(f"speck{index}: 1\n" for index in range(200)))[1]
    assert sum("did you mean" in line for line in found) == SUGGESTIONS_MAX
