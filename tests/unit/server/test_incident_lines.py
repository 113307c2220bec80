"""An incident in a line."""

from datetime import UTC, datetime

import pytest
from probelet.server.summary import open_incident

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "shared", "value", "said"),
    [
        ("container", "container", "default/web/web", "container default/web/web"),
        ("shared", "target", "db:5432", "shared target db:5432"),
        ("shared", "target", "shared", "shared target shared"),
        ("prober", "node", "node-1", "prober node node-1"),
        ("shared", "", "", "shared"),
    ],
)
def test_a_kind_that_names_what_is_shared_stands_once(kind: str, shared: str, value: str, said: str) -> None:
    incident = {
        "kind": kind,
        "shared": shared,
        "value": value,
        "since": "2026-11-28T11:59:48Z",
        "evidence": "it fails",
        "killed": 0,
    }
    assert open_incident(incident, NOW) == f"{said}, for 12s: it fails"
