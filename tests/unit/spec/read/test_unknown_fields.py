"""Fields that a type of this release does not have, and probes as plain data."""

from typing import Any

import pytest
from probelet.spec.model.probe import Probe
from probelet.spec.read.json import SpecError, convert_probe
from probelet.spec.read.unknown import unknown_fields

FULL: dict[str, Any] = {
    "httpGet": {"path": "/", "port": "http", "host": "", "scheme": "HTTP", "httpHeaders": [{"name": "a", "value": ""}]},
    "exec": {"command": ["true"]},
    "tcpSocket": {"port": 1, "host": ""},
    "grpc": {"port": 1, "service": "a", "mode": "TLS"},
    "initialDelaySeconds": 1,
    "timeoutSeconds": 1,
    "periodSeconds": 1,
    "successThreshold": 1,
    "failureThreshold": 1,
    "terminationGracePeriodSeconds": 1,
}


def test_every_field_of_a_probe_is_known() -> None:
    assert list(unknown_fields(FULL, Probe)) == []


def test_each_unknown_field_has_its_path() -> None:
    value = {
        "httpGet": {"port": 1, "x": 1, "httpHeaders": [{"name": "a"}, {"name": "b", "y": None}]},
        "periodseconds": 1,
        "": 1,
    }
    assert list(unknown_fields(value, Probe, "livenessProbe")) == [
        "livenessProbe.httpGet.x",
        "livenessProbe.httpGet.httpHeaders[1].y",
        "livenessProbe.periodseconds",
        "livenessProbe.",
    ]


@pytest.mark.parametrize("value", [None, 1, "text", [], {"httpGet": [], "exec": None, "grpc": 3}])
def test_a_wrong_type_is_no_unknown_field(value: Any) -> None:
    assert list(unknown_fields(value, Probe)) == []


def test_null_means_unset() -> None:
    probe = convert_probe({"httpGet": None, "exec": {"command": ["true"]}, "periodSeconds": None})
    assert (probe.handler, probe.period_seconds) == ("exec", 0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"periodSeconds": "1"}, "periodSeconds: Expected `int`, got `str`"),
        ({"exec": {"command": [1]}}, "exec.command[0]: Expected `str`, got `int`"),
        ({"periodSeconds": 2**31}, "periodSeconds: Expected `int` <= 2147483647"),
        ([], "Expected `object`, got `array`"),
    ],
)
def test_a_wrong_type_is_a_mistake_with_its_path(value: Any, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        convert_probe(value)
    assert words in str(raised.value)
