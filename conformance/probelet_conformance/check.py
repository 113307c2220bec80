"""Checks the names in a recording: its pods, their containers, and the values that a closed replay needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from probelet._rust import Simulation

from probelet_conformance.pod import PROBE_FIELDS, pod_object
from probelet_conformance.recording import Recording

CLOSED_OPS = frozenset(
    {
        "add_pod",
        "cleanup_pods",
        "remove_pod",
        "runtime",
        "set_deletion_timestamp",
        "status",
        "stop_liveness_and_startup",
        "sync",
        "sync_terminating",
        "update_pod_status",
    }
)
"""The event operations that a closed replay knows."""

TIMES = frozenset({"sync_delay_ms", "kill_ms", "restart_ms"})
"""The timing of the kubelet and its runtime that a closed replay needs."""


def check(recording: Recording) -> None:
    """Checks everything that playing the recording looks up.

    Raises:
        ValueError: a name is unknown or a value is missing; the text begins with its place.
    """
    for place, name, known in _names(recording):
        if name not in known:
            raise ValueError(f"{place}: {name!r}: must be one of {', '.join(map(repr, sorted(known)))}")
    missing = TIMES - recording.scenario.kubelet_glue.keys()
    if recording.kills and missing:
        raise ValueError(f"scenario.kubelet_glue: where something is killed, it needs {', '.join(sorted(missing))} too")
    _decoded(recording)


def _names(recording: Recording) -> Iterator[tuple[str, str | None, frozenset[str]]]:
    """Yields every name in the recording: its place, the name, and the known names."""
    scenario = recording.scenario
    pods = frozenset(pod.name for pod in scenario.pods)
    containers = {
        pod.name: frozenset(each["name"] for each in [*pod.spec["containers"], *pod.spec.get("initContainers", [])])
        for pod in scenario.pods
    }
    for index, line in enumerate(recording.trace["effective_probes"]):
        place = f"trace.effective_probes[{index}]"
        yield f"{place}.pod", line["pod"], pods
        yield f"{place}.container", line["container"], containers[line["pod"]]
    lines = [(f"trace.inputs[{index}]", "call", line) for index, line in enumerate(recording.trace["inputs"])]
    if recording.kills:
        events = [(f"scenario.events[{index}]", "op", line) for index, line in enumerate(scenario.events)]
        for place, _, line in events:
            yield f"{place}.op", line["op"], CLOSED_OPS
        lines += events
    for place, kind, line in lines:
        if line[kind] != "cleanup_pods":
            yield f"{place}.pod", line.get("pod"), pods
        for name in line.get("desired") or []:
            yield f"{place}.desired", name, pods


def _decoded(recording: Recording) -> None:
    """Lets the core decode everything that playing the recording passes to it."""
    simulation = Simulation()
    for key, steps in recording.scenario.scripts.items():
        with _at(f"scenario.scripts[{key!r}]"):
            simulation.script(key, msgspec.json.encode(steps))
    for index, pod in enumerate(recording.scenario.pods):
        defined = pod_object(recording, pod)
        for place, period in _periods(msgspec.json.decode(defined)["spec"]):
            if not isinstance(period, int) or period < 1:
                raise ValueError(f"scenario.pods[{index}].spec.{place}.periodSeconds: {period!r}: must be 1 at least")
        with _at(f"scenario.pods[{index}]"):
            simulation.define_pod(defined)


def _periods(spec: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields each probe's periodSeconds; without one, the replay's time would not advance."""
    for section in ("containers", "initContainers"):
        for container in spec.get(section, []):
            for field in PROBE_FIELDS.values():
                probe = container.get(field)
                if isinstance(probe, dict):
                    yield f"{section}[{container['name']!r}].{field}", probe.get("periodSeconds")


@contextmanager
def _at(place: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
