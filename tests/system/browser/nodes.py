"""A cluster of nodes for the page of a controller, that a test changes."""

from collections.abc import Iterator
from typing import Any

from probelet.controller.view import DIFFERS
from probelet.server.document.nodes import NodesDocument
from probelet.server.pages.rows import Row
from probelet.server.pages.source import NODES, Told

from tests.unit.server import fake_view
from tests.unit.server.fake_view import FakeIncidents


def node(name: str, *notes: str, failed: int = 0, of: int = 12, beats: str = "." * 64) -> Row:
    look: Any = "bad" if failed else "good"
    says = f"{of} probes: {failed} Failed" if failed else f"{of} probes"
    return {
        "uid": name,
        "namespace": "",
        "name": name,
        "ip": "",
        "rank": 0 if failed else 3,
        "look": look,
        "says": "failed" if failed else "well",
        "notes": list(notes),
        "detail": f"node={name}",
        "containers": [
            {
                "name": "",
                "kind": "",
                "look": "good",
                "says": "",
                "restarts": "",
                "probes": [{"type": "liveness", "look": look, "says": says, "beats": beats}],
            }
        ],
    }


class FakeNodes:
    """Answers from the rows that a test sets."""

    def __init__(self, *rows: Row) -> None:
        self.rows = list(rows)
        self.about = [DIFFERS]
        self.incidents = FakeIncidents()

    def told(self) -> Told:
        rows: Iterator[Row] = iter(self.rows)
        head = {"node": "cluster", "as_of": fake_view.AS_OF, "incidents": self.incidents.open}
        return Told({**head, "incidents_total": len(self.incidents.open)}, rows, NODES, self.about)

    def events(self, since: int) -> list[Any]:
        return []

    def document(self, node: str) -> NodesDocument:
        state: Any = {
            "pod": "default/cart-0",
            "container": "app",
            "state": "Succeeded",
            "failing": False,
            "cause": "",
            "since": fake_view.AS_OF,
            "probed": fake_view.AS_OF,
            "message": "",
        }
        bad = {**state, "pod": "default/web-0", "state": "Failed", "failing": True, "cause": "status", "message": "503"}
        return {
            "schema": "probelet-nodes/1",
            "as_of": fake_view.AS_OF,
            "leads": True,
            "notes": [],
            "nodes": [{"name": node, "states": [state, bad]}],  # type: ignore[typeddict-item]
        }
