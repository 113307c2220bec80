"""The images of containers come from a recording that an engine made, and PO115 compares releases by them."""

import json
import select
from contextlib import closing
from pathlib import Path

from probelet._rust import Batch, Engine, ExecEnd
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.observed.read import read_observed

from tests.unit.lint.observed.test_observations import found

SECOND = 1_000_000_000
SEGMENTS_BYTES = 1 << 20
STARTS = 8
SLOW, FAST = 44, 15
"""Seconds of a start; the workload's budget is 50 s."""


class Node:
    """An engine with a recorder, and pods whose startup probes a test answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._started: set[str] = set()

    def create(self, name: str, image: str) -> None:
        """A pod with this image, or another image of a pod that there is. Its container runs, since before the
        recording."""
        command = {"exec": {"command": ["check"]}, "periodSeconds": 1, "timeoutSeconds": 1}
        thresholds = {"failureThreshold": 100, "successThreshold": 1}
        container = {"name": "web", "image": image, "startupProbe": {**command, **thresholds}}
        pod = {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {"containers": [container]}}
        self._engine.add_pod(json.dumps(pod).encode())
        self.start(name, 0)

    def start(self, name: str, instance: int) -> None:
        """A new instance of the pod's container starts."""
        at_ms = self._engine.wall_ms()
        running = {"name": "web", "id": f"c://{name}/{instance}", "state": "running", "started_at_ms": at_ms}
        status = {"phase": "Running", "containers": [{**running, "started": False}]}
        self._engine.set_pod_status(name, json.dumps(status).encode())

    def answer(self, code: int, pods: int) -> None:
        """An attempt of each pod, and a second passes."""
        answered = 0
        while answered < pods:
            execs = self._batch().execs
            self._engine.finish_execs([ExecEnd.exit(run.run, code, b"") for run in execs])
            answered += len(execs)
        self._engine.advance(SECOND)

    def until_started(self, pods: int) -> None:
        """Waits for the results of so many pods in all."""
        while len(self._started) < pods:
            self._batch()

    def _batch(self) -> Batch:
        select.select([self._engine], [], [], 30)
        batch = self._engine.drain()
        self._started |= {update.pod_uid for update in batch.updates if update.result == "Success"}
        return batch


def rows(folder: Path) -> list[ObservedContainer]:
    return [row for row in read_observed(folder) if isinstance(row, ObservedContainer)]


def test_releases_of_a_recording_are_its_images(tmp_path: Path) -> None:
    segments = tmp_path / "segments"
    with closing(Engine(start_jitter=False, recorder=(segments, SEGMENTS_BYTES, "n1"))) as engine:
        node, started = Node(engine), 0
        for image, seconds in (("web:1", FAST), ("web:2", SLOW)):
            # The template's hash stays: nothing but the image tells the two apart.
            names = [f"web-5d4f-{image[-1]}{number}" for number in range(STARTS)]
            for name in names:
                node.create(name, image)
            node.answer(1, STARTS)
            for name in names:
                node.start(name, 1)
            for second in range(seconds):
                node.answer(int(second + 1 < seconds), STARTS)
            started += STARTS
            node.until_started(started)
            for name in names:
                engine.remove_pod(name)
    observed = rows(segments)
    assert {(row.pod[:10], row.image, row.release) for row in observed} == {
        ("web-5d4f-1", "web:1", "web:1"),
        ("web-5d4f-2", "web:2", "web:2"),
    }
    assert found(tmp_path, *observed)["PO115"] == "error"


def test_a_container_whose_image_changed_has_none(tmp_path: Path) -> None:
    with closing(Engine(start_jitter=False, recorder=(tmp_path, SEGMENTS_BYTES, "n1"))) as engine:
        node = Node(engine)
        for image in ("web:1", "web:2"):
            node.create("web-5d4f-x", image)
        node.create("web-5d4f-y", "web:2")
        node.answer(0, 2)
    assert {(row.pod, row.image, row.release) for row in rows(tmp_path)} == {
        ("web-5d4f-x", "", "web-5d4f"),
        ("web-5d4f-y", "web:2", "web:2"),
    }
