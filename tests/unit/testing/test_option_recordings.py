"""Recordings of probes with options and changes, kept as conformance: each is a life and what the core made of it.

A kubelet has no such options, so the files are our own, in the form ``probelet-option-recording/1``: the options, the
probe, the answers, and with them each attempt, event and change of the status. They are the contract between releases:
a change here is one that users see. ``python -m tests.unit.testing.test_option_recordings`` writes them anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from probelet.testing import VirtualNode

FOLDER = Path(__file__).parent / "recordings"
SCHEMA = "probelet-option-recording/1"

LIVES: dict[str, dict[str, Any]] = {
    "failures": {
        "probe": "livenessProbe",
        "options": {"failures": {"of": 10, "at": 4}},
        "answers": [*["success", "failure 0ms: no"] * 4, "success"],
    },
    "errors": {
        "probe": "livenessProbe",
        "options": {"errors": {"failureAfter": 2}},
        "answers": ["success", "error 0ms: gone * 12", "success"],
    },
    "errors-of-other-causes": {
        "probe": "livenessProbe",
        "options": {"errors": {"failureAfter": 2, "causes": ["port"]}},
        "answers": ["success", "error 0ms: gone * 12", "success"],
    },
    "hysteresis": {
        "probe": "readinessProbe",
        "options": {"hysteresis": {"slowerThan": "300ms"}},
        "fields": {"successThreshold": 2, "periodSeconds": 2},
        "answers": ["success 400ms * 2", "failure 0ms: no * 3", "success 400ms * 4", "success 10ms"],
    },
    "until-ready": {
        "probe": "readinessProbe",
        "options": {"untilReady": "100ms"},
        "answers": ["failure 0ms: not yet * 10", "success"],
    },
    "when-failing": {
        "probe": "livenessProbe",
        "options": {"whenFailing": "1s"},
        "answers": ["success * 2", "failure 0ms: no * 3", "success"],
    },
    "period-milliseconds": {
        "probe": "readinessProbe",
        "options": {"periodMilliseconds": 2500},
        "answers": ["success * 3", "failure 0ms: no * 3", "success"],
    },
    # From where an attempt is made decides nothing: the trace is that of a probe without the option.
    "network": {
        "probe": "livenessProbe",
        "options": {"network": "pod", "networkFallback": "ordinary"},
        "answers": ["success * 2", "error 0ms: gone", "failure 0ms: no * 3", "success"],
    },
    "probe-changes": {
        "probe": "livenessProbe",
        "options": {},
        "fields": {"failureThreshold": 5, "periodSeconds": 4},
        "answers": ["success", "failure 500ms: no * 3", "success 0ms", "failure 0ms: no"],
        "changes": [
            ["9s", {}, {"failureThreshold": 2, "periodSeconds": 6}],
            ["8300ms", {"failures": {"of": 6, "at": 3}, "whenFailing": "1s"}, {"initialDelaySeconds": 60}],
            ["9s", {}, {"failureThreshold": 3, "periodSeconds": 2}],
        ],
    },
    "all-at-once": {
        "probe": "readinessProbe",
        "options": {
            "failures": {"of": 5, "at": 2},
            "errors": {"failureAfter": 1},
            "hysteresis": {"slowerThan": "50ms"},
            "periodMilliseconds": 5000,
            "untilReady": "500ms",
            "whenFailing": "1s",
        },
        "answers": [
            "failure 0ms: no * 3",
            "success 100ms",
            "success",
            "failure 0ms: no",
            "error 0ms: gone * 3",
            "success",
        ],
    },
}


def pod_of(life: dict[str, Any], options: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The pod with these options and fields of its probe."""
    probe = {"httpGet": {"port": 80}, "periodSeconds": 10, **fields}
    annotations = {"probelet.dev/probe-options": json.dumps({"app": {life["probe"]: options}})}
    annotations |= {"probelet.dev/probe-changes": "live"} if "changes" in life else {}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [{"name": "app", life["probe"]: probe}]}
    # A UID of its own, because messages name it, and another one would depend on the working directory.
    meta = {"name": "web", "uid": "u", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def played(life: dict[str, Any]) -> dict[str, Any]:
    """A minute of the life, and what is left of it after its changes."""
    node = VirtualNode(pod_of(life, life["options"], life.get("fields", {})))
    node.answer(f"web/app/{life['probe'].removesuffix('Probe')}", *life["answers"])
    for wait, options, fields in life.get("changes", []):
        node.run(wait)
        node.change(pod_of(life, options, fields))
    node.run("1m")
    return {
        "attempts": [[attempt.at, attempt.outcome] for attempt in node.attempts],
        "events": [[event.at, event.reason, event.message] for event in node.events],
        "transitions": [[change.at, change.subject, change.field, change.value] for change in node.transitions],
    }


@pytest.mark.parametrize("name", sorted(LIVES))
def test_the_core_plays_each_recording_as_it_was(name: str) -> None:
    kept = json.loads((FOLDER / f"{name}.json").read_text())
    assert kept["schema"] == SCHEMA
    assert kept["life"] == LIVES[name]
    now = json.loads(json.dumps(played(kept["life"])))
    for part, lines in kept["trace"].items():
        assert now[part] == lines, part


def test_a_probe_from_inside_its_pod_is_judged_as_every_other() -> None:
    assert played(LIVES["network"]) == played({**LIVES["network"], "options": {}})


def test_each_recording_has_its_life() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == LIVES.keys()


def _write() -> None:
    for name, life in LIVES.items():
        trace = played(life)
        lines = [
            f'  "{part}": [\n    ' + ",\n    ".join(json.dumps(line) for line in found) + "\n  ]"
            for part, found in trace.items()
        ]
        text = f'{{"schema": "{SCHEMA}",\n"life": {json.dumps(life)},\n"trace": {{\n' + ",\n".join(lines) + "\n}}\n"
        (FOLDER / f"{name}.json").write_text(text)


if __name__ == "__main__":
    _write()
