"""The page of a large cluster is bounded."""

from datetime import UTC, datetime

from probelet.beside.guard.objects.node_probes import NodeProbes, PodProbes, ProbeState
from probelet.beside.incidents.node import NodeSeen
from probelet.controller import view
from probelet.controller.view import NOTES_MAX

NOW = int(datetime(2026, 11, 21, tzinfo=UTC).timestamp() * 1_000)


def seen(name: str, *states: ProbeState, ready: bool = True) -> NodeSeen:
    pods = {
        f"uid-{number}": PodProbes("default", f"web-{number}", f"uid-{number}", (state,))
        for number, state in enumerate(states)
    }
    made = NodeSeen(name, is_ready=ready)
    made.take(NodeProbes(name, pods), NOW)
    return made


FAILED = ProbeState("p", "app", "Failed", is_failing=True, cause="status", message="x" * 256)
FAILING = ProbeState("p", "app", "Succeeded", is_failing=True, cause="refused")
WELL = ProbeState("p", "app", "Succeeded")
UNKNOWN = ProbeState("p", "app")


def test_a_node_on_which_everything_fails_has_a_short_row() -> None:
    row = view._row(seen("n", *([FAILED] * 110)), NOW)
    assert len(row["notes"]) == NOTES_MAX + 1
    assert row["notes"][-1] == "and 107 more"
    assert len(str(row)) < 2_000


def test_the_worst_comes_first() -> None:
    nodes = [
        seen("failed", FAILED, WELL),
        seen("failing", FAILING, WELL),
        seen("gone", FAILED, ready=False),
        seen("new", UNKNOWN, UNKNOWN),
        seen("partly new", UNKNOWN, WELL),
        seen("well", WELL),
    ]
    rows = [view._row(each, NOW) for each in nodes]
    says = {row["name"]: (row["rank"], row["says"], row["containers"][0]["probes"][0]["says"]) for row in rows}
    assert says == {
        "failed": (0, "failed", "2 probes: 1 Failed"),
        "failing": (1, "failing", "2 probes: 1 failing"),
        "gone": (1, "not Ready", "1 probe: 1 Failed"),
        "new": (2, "unknown", "2 probes: 2 unknown"),
        "partly new": (3, "well", "2 probes: 1 unknown"),
        "well": (3, "well", "1 probe"),
    }
    assert rows[1]["notes"] == ["default/web-0 app: failing (refused)"]
