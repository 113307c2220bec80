"""Scenario files with mistakes: one line each, with the place, the value and what is allowed."""

from pathlib import Path

import pytest
from probelet.lab.scenario import ScenarioError, load_scenario, read_scenario

HEAD = "apiVersion: probelet.dev/v1alpha1\nkind: Scenario\n"
DEPENDENCY = "dependencies: {auth: {latency: 5ms}}\n"


def mistakes(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as raised:
        read_scenario(text, Path("s.yaml"))
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("duraton: 5m", "s.yaml:3: duraton: unknown field; did you mean duration?"),
        ("containers: [{latenzy: 5ms}]", "s.yaml:3: containers[0].latenzy: unknown field; did you mean latency?"),
        ("duration: 5", 's.yaml:3: duration: Invalid value: 5: must be a duration text such as "1m30s", not a number'),
        ("duration: 0s", 's.yaml:3: duration: Invalid value: "0s": must be above 0'),
        ("duration: 9000h", 's.yaml:3: duration: Invalid value: "9000h0m0s": must not exceed 8784h0m0s'),
        ("settle: -1s", 's.yaml:3: settle: Invalid value: "-1s": must not be negative'),
        ("nodes: 0", "s.yaml:3: nodes: Invalid value: 0: must be between 1 and 1000, inclusive"),
        ("containers: [{concurrency: 0}]", "s.yaml:3: containers[0].concurrency: Invalid value: 0: must be at least 1"),
        ("containers: [{queue: 5}]", "s.yaml:3: containers[0].queue: Forbidden: nothing waits without concurrency"),
        (
            "containers: [{latency: {p50: 9ms, p99: 5ms}}]",
            's.yaml:3: containers[0].latency.p99: Invalid value: "5ms": must not be below p50, 9ms',
        ),
        (
            "containers: [{latency: {p50: 9ms, max: 10ms}}]",
            's.yaml:3: containers[0].latency: Required value: a duration such as "40ms", {p50, p99} or {min, max}',
        ),
        (
            "containers: [{startup: {always: 9s, ofBudget: 0.5}}]",
            's.yaml:3: containers[0].startup: Required value: a duration such as "40ms", {p50, p99} or {min, max} or '
            "{ofBudget}",
        ),
        ("traffic: [{service: web}]", "s.yaml:3: traffic[0].rate: Required value: either rate or ratePerReplica"),
        (
            "traffic: [{rate: 1, ratePerReplica: 1}]",
            "s.yaml:3: traffic[0].rate: Required value: either rate or ratePerReplica",
        ),
        ("traffic: [{rate: -1}]", "s.yaml:3: traffic[0].rate: Invalid value: -1.0: must not be negative"),
        (
            "traffic: [{rate: 1, timeout: 1s, slo: 2s}]",
            's.yaml:3: traffic[0].slo: Invalid value: "2s": must not exceed the client\'s timeout, 1s',
        ),
        ("faults: [null]", "s.yaml:3: faults[0]: Required value: a fault has a type"),
        ("faults: [{type: 5}]", "s.yaml:3: faults[0].type: Unsupported value: 5: supported values: "),
        (
            "faults: [{type: gc-paus}]",
            's.yaml:3: faults[0].type: Unsupported value: "gc-paus": supported values: ... did you mean gc-pause?',
        ),
        ("faults: [{at: 5s}]", "s.yaml:3: faults[0].type: Required value: one of dependency-slow, "),
        ("faults: [{type: exit, at: -5s}]", 's.yaml:3: faults[0].at: Invalid value: "-5s": must not be negative'),
        (
            "faults: [{type: exit, at: 15m}]",
            's.yaml:3: faults[0].at: Invalid value: "15m0s": must be before the end of the scenario, 15m0s',
        ),
        ("faults: [{type: exit, cod: 3}]", "s.yaml:3: faults[0].cod: unknown field; did you mean code?"),
        (
            "faults: [{type: exit, code: 256}]",
            "s.yaml:3: faults[0].code: Invalid value: 256: must be between 0 and 255, inclusive",
        ),
        ("faults: [{type: gc-pause}]", "s.yaml:3: faults[0].pause: Required value: how long each pause takes"),
        (
            "faults: [{type: gc-pause, pause: 2m}]",
            's.yaml:3: faults[0].pause: Invalid value: "2m0s": must be below every, 1m0s',
        ),
        (
            "faults: [{type: memory-leak, perHour: 5Mo, limit: 1Gi}]",
            's.yaml:3: faults[0].perHour: Invalid value: "5Mo": ',
        ),
        (
            f"{DEPENDENCY}faults: [{{type: dependency-slow, dependency: aut, latency: 1s}}]",
            's.yaml:4: faults[0].dependency: Not found: "aut": no dependency of this name under dependencies; '
            "did you mean auth?",
        ),
        (
            "containers: [{asks: {readiness: [auth]}}]",
            's.yaml:3: containers[0].asks.readiness[0]: Not found: "auth": no dependency of this name under '
            "dependencies; there are: none",
        ),
        (
            "dependencies: {a: {asks: [b]}, b: {asks: [c]}, c: {asks: [a]}}",
            's.yaml:3: dependencies[c].asks: Invalid value: "a": asks itself in the end: a -> b -> c -> a',
        ),
        ("dependencies: {a: {asks: [a]}}", "s.yaml:3: dependencies[a].asks: Invalid value: "),
    ],
)
def test_a_mistake_is_one_line_with_its_place(text: str, line: str) -> None:
    (found,) = mistakes(HEAD + text)
    start, _, end = line.partition(" ... ")
    assert found.startswith(start)
    assert found.endswith(end)


def test_every_mistake_is_found_at_once_in_the_order_of_the_file() -> None:
    found = mistakes(f"{HEAD}faults:\n- type: exits\n- type: gc-pause\nduration: 1\nnods: 3\n")
    assert [line.split(": ")[0] for line in found] == [f"s.yaml:{number}" for number in (4, 5, 6, 7)]


def test_a_shared_dependency_is_no_circle() -> None:
    lines = ["dependencies:", *(f"  d{n}: {{asks: [d{n + 1}, d{n + 1}]}}" for n in range(200)), "  d200: {}"]
    assert len(read_scenario(HEAD + "\n".join(lines)).scenario.dependencies) == 201


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "s.yaml:1: must be one document of kind Scenario, not 0"),
        (f"{HEAD}---\n{HEAD}", "s.yaml:4: must be one document of kind Scenario, not 2"),
        ("kind: Scenario\n", 's.yaml:1: kind: Unsupported value: "Scenario": must be probelet.dev/v1alpha1 Scenario'),
        ("- 1", 's.yaml:1: kind: Unsupported value: "": must be probelet.dev/v1alpha1 Scenario'),
        ("a: [", "s.yaml:1: not YAML: "),
    ],
)
def test_a_file_that_is_no_scenario_is_one_line(text: str, line: str) -> None:
    (found,) = mistakes(text)
    assert found.startswith(line)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("overlaod", 'there is no scenario or file "overlaod"; did you mean overload?'),
        ("zzz", 'there is no scenario or file "zzz"; built in are bad-rollout, '),
        ("none.yaml", "none.yaml: cannot be read: No such file or directory"),
    ],
)
def test_a_scenario_that_is_not_there_is_one_line(name: str, line: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        load_scenario(name)
    assert str(raised.value).startswith(line)
