"""``probelet config schema``: an editor with the schema and probelet itself judge a configuration alike."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.config import ConfigError, load_config
from probelet.config.inert.unavailable import UNAVAILABLE_FIELDS
from probelet.config.inert.unread_field import UNREAD_FIELDS
from probelet.config.schema.document import config_schema

from tests.support.json_schema import mistakes
from tests.support.paths import ROOT

SCHEMA = config_schema("1.36")
KUBELET = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
PROBELET = {"apiVersion": "probelet.dev/v1alpha1", "kind": "ProbeletConfiguration"}
SAMPLE = (ROOT / "deploy" / "config.yaml").read_text()

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

VALUES = [
    *(None, True, False, 0, 1, 2, -1, 0.5, 2**31, [], {}),
    *(
        "",
        "x",
        "true",
        "1",
        "kubelet",
        "0",
        "0s",
        "-1s",
        "+1s",
        "1s",
        "1.5h",
        "1m30s",
        "1µs",
        "5 m",
        "1d",
        "/var/log",
        "0.5",
        "10Mi",
        "1e3",
        "1KB",
    ),
]
# An editor lets these pass, and probelet refuses them: a rule of two fields, the length of a duration, half a byte.
ONLY_PROBELET = {
    # A ring has a smallest and a largest size.
    "flightRecorder.size": {"0", "0.5", "1", "1e3"},
    "containerBackoffMin": {"1.5h"},
    "containerLogMaxSize": {"0.5"},
    "containerLogMonitorInterval": {"+1s", "1s", "1µs"},
    "containerBackoffMax": {"1µs"},
    # A pace has a smallest length, and a window no more failures than runs.
    **{f"probeOptionDefaults.{probe}.{pace}": {"1µs"} for probe in PROBES for pace in ("untilReady", "whenFailing")},
    **{f"probeOptionDefaults.{probe}.failures.of": {1, 2} for probe in PROBES},
    **{f"probeOptionDefaults.{probe}.failures.at": {63, 64} for probe in PROBES},
    "probeOptionDefaults.readinessProbe.hysteresis.slowerThan": {"1µs"},
    # Only beside a network.
    **{f"probeOptionDefaults.{probe}.networkFallback": {"error", "ordinary"} for probe in PROBES},
    "wakeSlack": {"+1s", "1s", "1.5h", "1m30s"},
    "crashLoopBackOff.maxContainerRestartPeriod": {"1.5h", "1µs"},
}


def wrong(document: dict[str, Any]) -> list[str]:
    return list(mistakes(document, SCHEMA, SCHEMA))


def is_accepted(document: dict[str, Any], folder: Path) -> bool:
    """True if probelet takes the document without a word."""
    path = folder / "c.yaml"
    path.write_text(json.dumps(document))
    try:
        return load_config(path).warnings == []
    except ConfigError:
        return False


def leaves(schema: dict[str, Any], within: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The path of each field that probelet reads, and its schema."""
    for name, field in schema["properties"].items():
        if "properties" in field and name != "featureGates":
            yield from leaves(field, (*within, name))
        elif name not in ("apiVersion", "kind", "featureGates") and name not in UNREAD_FIELDS:
            yield (*within, name), field


def with_field(head: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for name in reversed(path):
        value = {name: value}
    gates = {"featureGates": {"KubeletCrashLoopBackOffMax": True}} if head is KUBELET else {}
    allowed = {"probeOptions": True} if "probeOptionDefaults" in value else {}
    return {**head, **gates, **allowed, **value}


@pytest.mark.parametrize("text", [SAMPLE, re.sub(r"^#(?=\w+:)", "", SAMPLE, flags=re.MULTILINE)], ids=["is", "set"])
def test_the_shipped_configuration_is_valid_as_it_is_and_with_every_field_set(text: str) -> None:
    documents = list(yaml.safe_load_all(text))
    assert [document["kind"] for document in documents] == ["KubeletConfiguration", "ProbeletConfiguration"]
    assert [wrong(document) for document in documents] == [[], []]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"kind": "ProbeletConfiguration", "schedule": "wild"}, [": required", ".schedule: enum"]),
        ({**PROBELET, "kind": "Pod"}, [".kind: enum"]),
        ({**PROBELET, "apiVersion": "probelet.dev/v1"}, [".apiVersion: const"]),
        ({**PROBELET, "shedule": "spread"}, [".shedule: additionalProperties"]),
        ({**PROBELET, "schedule": "wild"}, [".schedule: enum"]),
        ({**PROBELET, "restartBudget": {"burst": 0}}, [".restartBudget.burst: minimum"]),
        ({**PROBELET, "restartBudget": {"bursts": 1}}, [".restartBudget.bursts: additionalProperties"]),
        ({**PROBELET, "maxContainerAge": "1 day"}, [".maxContainerAge: pattern"]),
        ({**KUBELET, "runtimeRequestTimout": "1m"}, [".runtimeRequestTimout: additionalProperties"]),
        ({**KUBELET, "featureGates": {"Nope": True}}, [".featureGates.Nope: additionalProperties"]),
        ({**KUBELET, "featureGates": {"SidecarContainers": False}}, [".featureGates.SidecarContainers: enum"]),
        ({**KUBELET, "featureGates": {"ExecProbeTimeout": False}}, [".featureGates.ExecProbeTimeout: enum"]),
        (
            {**KUBELET, "featureGates": {"H2CContainerProbe": True}},
            [".featureGates.H2CContainerProbe: additionalProperties"],
        ),
        ({**KUBELET, "featureGates": {"NodeSwap": 1}}, [".featureGates.NodeSwap: type"]),
    ],
)
def test_a_mistake_is_found_that_probelet_refuses_too(
    document: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert wrong(document) == expected
    assert not is_accepted(document, tmp_path)


@pytest.mark.parametrize(
    ("head", "path", "field"),
    [
        (head, path, field)
        for head in (KUBELET, PROBELET)
        for path, field in leaves(SCHEMA["$defs"][head["kind"]])
        if path != ("phase",)
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_a_value_is_valid_if_and_only_if_probelet_takes_it(
    head: dict[str, Any], path: tuple[str, ...], field: dict[str, Any], tmp_path: Path
) -> None:
    bounds = [bound for name in ("minimum", "maximum") if (bound := field.get(name)) is not None]
    around = [bound + step for bound in bounds for step in (-1, 0, 1)]
    differing = set()
    for value in (*VALUES, *around, *filter(None, field.get("enum", ()))):
        document = with_field(head, path, value)
        is_valid, taken = not wrong(document), is_accepted(document, tmp_path)
        assert is_valid or not taken, value
        if is_valid != taken:
            differing.add(value)
    assert differing == ONLY_PROBELET.get(".".join(path), set())


def test_the_gates_are_those_of_the_release() -> None:
    def gates(version: str) -> dict[str, Any]:
        found: dict[str, Any] = config_schema(version)["$defs"]["KubeletConfiguration"]["properties"]["featureGates"]
        return found["properties"]

    assert "GRPCContainerProbeTLS" in gates("1.37").keys() - gates("1.36").keys()
    assert gates("1.36")["KubeletCrashLoopBackOffMax"]["default"] is True
    assert gates("1.34")["KubeletCrashLoopBackOffMax"]["default"] is False
    assert {"AllAlpha", "EnableKubeletCrashLoopBackoffMax", "NodeSwap"} <= gates("1.36").keys()


def test_a_nodes_own_file_and_old_names_are_valid() -> None:
    assert wrong({**KUBELET, "cgroupDriver": "systemd", "authentication": {"anonymous": {"enabled": False}}}) == []
    assert wrong({**PROBELET, "phase": "spread"}) == []


def test_a_field_has_its_effect_and_its_default_for_the_editor() -> None:
    for head in (KUBELET, PROBELET):
        for path, field in leaves(SCHEMA["$defs"][head["kind"]]):
            assert len(field["description"]) > 20, path
    schedule = SCHEMA["$defs"]["ProbeletConfiguration"]["properties"]["schedule"]
    assert (schedule["default"], schedule["description"][:31]) == ("kubelet", "The times of a worker's runs. `")
    assert SCHEMA["$defs"]["ProbeletConfiguration"]["properties"].keys() >= UNAVAILABLE_FIELDS
