"""Damaged recordings: one line each names the place, intact ones are played, and none causes a traceback."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from probelet_conformance import load

from tests.support.paths import HANDLER_CASES, TRACES
from tests.unit.cli.conftest import Probelet

GOOD = TRACES / "named" / "initial_delay_liveness_5.json"
CLOSED = TRACES / "named" / "closed_loop_startup_restarts.json"
CASES = HANDLER_CASES / "tcp.jsonl"

# Replacements for a value.
WRONG = (None, -1, 0, 1.5, 10**20, True, "", "x", [], ["x"], [{}], {}, {"x": 1})
SEED = 1
FILES = 30
CHANGES = 8


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every key of every object and every index of every list, with its container."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [place for key in keys for place in ((value, key), *places(value[key]))]


def damaged(recording: Any, rng: random.Random) -> Any:
    """The recording with one value deleted or replaced, mostly in a part that is played."""
    part = rng.choice([recording, recording["scenario"], recording["trace"]["inputs"]])
    holder, key = rng.choice(places(part))
    if rng.random() < 0.4:
        del holder[key]
    else:
        holder[key] = rng.choice(WRONG)
    return recording


def test_a_damaged_recording_is_one_line_and_the_others_are_played(probelet: Probelet, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    texts = [path.read_text() for path in rng.sample(sorted(TRACES.rglob("*.json")), 2 * FILES) if quiet(path)][:FILES]
    assert len(texts) == FILES
    paths = [tmp_path / f"{number}-{change}.json" for number in range(FILES) for change in range(CHANGES)]
    for number, path in enumerate(paths):
        path.write_text(json.dumps(damaged(json.loads(texts[number // CHANGES]), rng)))
    shutil.copy(GOOD, tmp_path / "good.json")
    found = {}
    for verb in ("conformance", "replay"):
        ended = probelet(verb, str(tmp_path))
        lines = ended.err.splitlines()
        assert ended.code == 2
        assert "Traceback" not in ended.err + ended.out
        message = [line.removeprefix(f"probelet {verb}: ").split(": ", maxsplit=2) for line in lines]
        assert all(kind == "not a recording" and why for _, kind, why in message), message
        refused = [Path(path) for path, _, _ in message]
        assert sorted(set(refused)) == sorted(refused)
        assert set(refused) < set(paths)
        assert f"of {len(paths) + 1 - len(refused)} recordings equal" in ended.out
        found[verb] = set(refused)
    assert found["conformance"] == found["replay"]
    assert len(found["replay"]) > len(paths) / 3


def quiet(path: Path) -> bool:
    """True if playing needs no sockets, however damaged the recording is."""
    return not load(path).uses_sockets


def changed(path: Path, tmp_path: Path, *keys: Any, to: Any) -> Path:
    """A recording with the value at ``keys`` replaced by ``to``, or deleted if ``to`` is `...`."""
    recording = json.loads(path.read_text())
    *way, last = keys
    holder = recording
    for key in way:
        holder = holder[key]
    if to is ...:
        del holder[last]
    else:
        holder[last] = to
    (tmp_path / "bad.json").write_text(json.dumps(recording))
    return tmp_path / "bad.json"


INPUTS = ("trace", "inputs")
SCENARIO = ("scenario",)


@pytest.mark.parametrize("verb", ["conformance", "replay"])
@pytest.mark.parametrize(
    ("path", "keys", "to", "message"),
    [
        (GOOD, (*INPUTS, 0, "containers", 0, "state"), "odd", "Invalid enum value 'odd' - at `$.trace.inputs[0]"),
        (GOOD, (*INPUTS, 0, "call"), "odd", "Invalid enum value 'odd' - at `$.trace.inputs[0].call`"),
        (GOOD, (*INPUTS, 0, "t_ms"), ..., "Object missing required field `t_ms` - at `$.trace.inputs[0]`"),
        (GOOD, (*INPUTS, 0, "t_ms"), "soon", "Expected `int`, got `str` - at `$.trace.inputs[0].t_ms`"),
        (GOOD, (*INPUTS, 0, "pod"), "q", "trace.inputs[0].pod: 'q': must be one of 'p'"),
        (GOOD, (*INPUTS, 0, "pod"), ..., "trace.inputs[0].pod: None: must be one of 'p'"),
        (GOOD, ("trace", "workers"), ..., "Object missing required field `workers` - at `$.trace`"),
        (GOOD, ("trace", "effective_probes", 0, "container"), "q", "trace.effective_probes[0].container: 'q': must be"),
        (GOOD, ("trace", "effective_probes", 0, "probe", "periodSeconds"), 0, "periodSeconds: 0: must be 1 at least"),
        (GOOD, (*SCENARIO, "duration_ms"), 10**15, "Expected `int` <= 86400000 - at `$.scenario.duration_ms`"),
        (
            GOOD,
            (*SCENARIO, "scripts"),
            {"p/c/liveness": [{"outcome": "hang", "repeat": -1}]},
            "['p/c/liveness']: [0].repeat: inv",
        ),
        (GOOD, (*SCENARIO, "pods", 0, "spec"), {"containers": 7}, "Expected `array`, got `int` - at `$.scenario.pods["),
        (
            CLOSED,
            (*SCENARIO, "kubelet_glue", "restart_ms"),
            ...,
            "scenario.kubelet_glue: where something is killed, it",
        ),
        (
            CLOSED,
            (*SCENARIO, "events", 0, "op"),
            "odd",
            "scenario.events[0].op: 'odd': must be one of 'add_pod', 'cleanup_pods'",
        ),
    ],
)
def test_the_line_names_the_place(
    probelet: Probelet, verb: str, path: Path, keys: tuple[Any, ...], to: Any, message: str, tmp_path: Path
) -> None:
    bad = changed(path, tmp_path, *keys, to=to)
    ended = probelet(verb, str(tmp_path))
    line, *_ = ended.err.splitlines()
    assert ended.code == 2
    assert line.startswith(f"probelet {verb}: {bad}: not a recording: ")
    assert message in line


def test_a_container_removed_before_its_kill_is_not_restarted(probelet: Probelet, tmp_path: Path) -> None:
    recording = json.loads(CLOSED.read_text())
    failed = next(line["t_ms"] for line in recording["trace"]["updates"] if line["result"] == "Failure")
    gone = {"op": "runtime", "pod": "p", "containers": {"c": {"state": "none"}}}
    for delay in (500, 2_500):
        recording["scenario"]["events"].append({"t_ms": failed + delay, **gone})
    (tmp_path / "gone.json").write_text(json.dumps(recording))
    ended = probelet("conformance", str(tmp_path))
    assert (ended.code, ended.err) == (1, "")


def test_a_file_of_cases_with_a_mistake_does_not_stop_the_others(probelet: Probelet, tmp_path: Path) -> None:
    first, *_ = CASES.read_text().splitlines()
    (tmp_path / "bad.jsonl").write_text(first + '\n{"name": "x"}\n')
    shutil.copy(GOOD, tmp_path)
    ended = probelet("conformance", str(tmp_path), "-o", "json")
    report = json.loads(ended.out)
    assert ended.code == 2
    assert report["refused"] == [f"{tmp_path}/bad.jsonl:2: not a handler case: Object missing required field `handler`"]
    assert ended.err.startswith(f"probelet conformance: {report['refused'][0]}\n")
    assert (report["equal"], report["total"]) == (1, 1)


@pytest.mark.parametrize(
    ("keys", "to", "message"),
    [
        (("server", "listeners", 0, "mode"), "odd", "Invalid enum value 'odd' - at `$.server.listeners[0].mode`"),
        (("server", "listeners", 0, "scripts"), [{"steps": [{"op": "more"}]}], "Invalid enum value 'more' - at `$.ser"),
        (("server", "listeners", 0, "scripts"), [{"steps": [{"op": "send_forever"}]}], "there is no data to send"),
        (("server", "listeners", 0, "scripts"), [], "scripts: none, where mode is script"),
        (("expect", "received"), {"PORT": [{"bytes": 7}]}, "Expected `str`, got `int` - at `$.expect.received[...]"),
        (("expect", "class"), "odd", "expect.class: 'odd': must be one of ok, warning"),
        (("expect", "result"), 1, "Expected `str`, got `int` - at `$.expect.result`"),
        (("expect", "connections"), {"NONE": 1}, "expect.connections: 'NONE': no listener has this name"),
        (("container",), {"ports": [{"name": "a", "containerPort": "{NONE}"}]}, "neither a number nor a listener"),
        (("probe",), {"tcpSocket": {"port": []}}, "probe: "),
    ],
)
def test_the_line_about_a_case_names_the_place(
    probelet: Probelet, keys: tuple[Any, ...], to: Any, message: str, tmp_path: Path
) -> None:
    (tmp_path / "good.json").write_text(CASES.read_text().splitlines()[0])
    bad = changed(tmp_path / "good.json", tmp_path, *keys, to=to).rename(tmp_path / "bad.jsonl")
    (tmp_path / "good.json").rename(tmp_path / "good.jsonl")
    ended = probelet("conformance", str(tmp_path))
    line, *_ = ended.err.splitlines()
    assert ended.code == 2
    assert line.startswith(f"probelet conformance: {bad}:1: not a handler case: ")
    assert message in line
    assert ended.out == "1 of 1 recordings equal\n"
