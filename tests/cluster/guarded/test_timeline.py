"""The judge of the bad rollout, with notes made by hand."""

import json
from pathlib import Path
from typing import Any

from tests.cluster.guarded.timeline import timeline


def note(at: float, uid: str, ready: str, restarts: int = 0, *, kind: str = "MODIFIED", **metadata: Any) -> str:
    thing = {
        "metadata": {"uid": uid, "labels": {"app": "shop"}, **metadata},
        "status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [{"restartCount": restarts}],
        },
    }
    return json.dumps({"at": at * 1e9, "type": kind, "object": thing})


def test_what_was_there_at_the_beginning_is_one_point_and_restarts_of_deleted_pods_count(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    rows = [
        *(note(9, uid, "True", kind="ADDED") for uid in "abc"),
        note(12, "a", "False", 1),
        note(13, "b", "True", deletionTimestamp="now"),
        note(14, "a", "True", 1),
        note(15, "b", "True", 1, kind="DELETED"),
    ]
    file.write_text("".join(f"{row}\n" for row in rows))
    found = timeline(file, "shop", 10 * 10**9)
    assert found.ready == [(0.0, 3), (2.0, 2), (3.0, 1), (4.0, 2)]
    assert found.restarts == [(0.0, 0), (2.0, 1), (5.0, 2)]
    assert (found.least_ready(0), found.least_ready(3.5), found.total_restarts()) == (1, 1, 2)
