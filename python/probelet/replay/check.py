"""Whether what a recording names is there: its pods, their containers, what a closed replay needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from probelet._rust import Simulation
from probelet.replay.pod import PROBE_FIELDS, pod_object
from probelet.replay.recording import Recording

CLOSED_OPS = frozenset(
    {
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
"""What a closed replay does with a scenario's events."""

TIMES = frozenset({"sync_delay_ms", "kill_ms", "restart_ms"})
"""What it is told of the kubelet and its runtime."""


def check(recording: Recording) -> None:
    """Look at everything that playing a recording looks up.

    Raises:
        ValueError: something is not there; the text begins with the place.
    """
    for place, name, known in _names(recording):
        if name not in known:
            raise ValueError(f"{place}: {name!r}: must be one of {', '.join(map(repr, sorted(known)))}")
    missing = TIMES - recording.scenario.kubelet_glue.keys()
    if recording.kills and missing:
        raise ValueError(f"scenario.kubelet_glue: where something is killed, it needs {', '.join(sorted(missing))} too")
    _decoded(recording)


def _names(recording: Recording) -> Iterator[tuple[str, str | None, frozenset[str]]]:
    """Every place where something is named, the name, and what could be."""
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
    told = [(f"trace.inputs[{index}]", "call", line) for index, line in enumerate(recording.trace["inputs"])]
    if recording.kills:
        events = [(f"scenario.events[{index}]", "op", line) for index, line in enumerate(scenario.events)]
        for place, _, line in events:
            yield f"{place}.op", line["op"], CLOSED_OPS
        told += events
    for place, kind, line in told:
        if line[kind] != "cleanup_pods":
            yield f"{place}.pod", line.get("pod"), pods
        for name in line.get("desired") or []:
            yield f"{place}.desired", name, pods


def _decoded(recording: Recording) -> None:
    """Have the core read what it will be given."""
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
    """How often each probe runs: one without a period would never let time go on."""
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
