"""The built-in scenarios and the schema."""

import re

import pytest
import yaml
from probelet.lab.scenario import builtin_names, builtin_text, load_scenario
from probelet.lab.scenario.schema import scenario_schema

from tests.support.json_schema import mistakes
from tests.support.paths import ROOT

NAMES = [
    "bad-rollout",
    "dependency-down",
    "dependency-slow",
    "deadlock",
    "gc-pause",
    "leak",
    "node-slow",
    "overload",
    "prober-restart",
    "startup-drift",
]
FILES = sorted((ROOT / "examples" / "lab").rglob("scenarios/*.yaml"))


def test_there_are_ten() -> None:
    assert builtin_names() == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_title_a_text_traffic_and_a_fault(name: str) -> None:
    scenario = load_scenario(name).scenario
    assert scenario.name == name
    assert len(scenario.title) <= 80
    assert scenario.text.endswith(".")
    assert scenario.traffic
    assert scenario.faults
    assert re.match(r"[A-Z]", scenario.title)


@pytest.mark.parametrize("text", [*map(builtin_text, NAMES), *(path.read_text() for path in FILES)])
def test_the_schema_accepts_what_the_reader_accepts(text: str) -> None:
    schema = scenario_schema()
    assert list(mistakes(yaml.safe_load(text), schema, schema)) == []


@pytest.mark.parametrize(
    "text",
    [
        "{kind: Scenario}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, duraton: 5m}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, duration: 5}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, duration: -5s}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, faults: [{type: gc-paus}]}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, faults: [{type: exit, pause: 5s}]}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, containers: [{latency: {p5: 5s}}]}",
        "{apiVersion: probelet.dev/v1alpha1, kind: Scenario, containers: [{concurrency: 0}]}",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str) -> None:
    schema = scenario_schema()
    assert list(mistakes(yaml.safe_load(text), schema, schema))
