"""``probelet simulate`` as people type it."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from probelet.virtual.cluster import VirtualCluster

from tests.support.json_schema import mistakes
from tests.support.paths import ROOT
from tests.unit.cli.conftest import Probelet

LAB = ROOT / "examples" / "lab"
SERVER = str(LAB / "server-with-dependencies.yaml")
CAREFUL = str(LAB / "server-careful.yaml")
SLOW = "dependency-slow"


def document(probelet: Probelet, *arguments: str) -> dict[str, Any]:
    ended = probelet("simulate", *arguments, "-o", "json")
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def rows(out: str) -> dict[str, list[str]]:
    """The texts behind each label."""
    found: dict[str, list[str]] = {}
    label = ""
    for line in out.splitlines():
        if line[:10].strip():
            label = line[:10].strip()
            found.setdefault(label, []).append(line[10:])
        elif label in found:
            found[label][-1] += " " + line[10:]
    return found


def test_the_lines_that_a_person_wants_to_know(probelet: Probelet) -> None:
    ended = probelet("simulate", SERVER, "--scenario", SLOW)
    assert (ended.code, ended.err) == (0, "")
    found = rows(ended.out)
    assert found["assumed"] == ["readiness of server/server asks shared"]
    assert re.match(r"3 of 3 replicas at the same time; the first at 1\d\d s", found["unready"][0])
    assert found["killed"] == ["nothing"]
    assert re.match(r"[\d,]+ of 180,000 lost \(1\d %\), [\d,]+ late; none was served for \d+ s", found["requests"][0])
    assert re.match(r"after \d(\.\d)? s", found["recovery"][0])
    assert any("because it asks shared, which answered too late" in each for each in found["what"])
    first = found["change"][0]
    assert first.startswith("readinessProbe.timeoutSeconds of Deployment server: 1 -> 3 then no request is lost, not ")
    assert "after up to 33 s, not 31 s" in first
    long = [line for line in ended.out.splitlines() if len(line) > 80]
    assert all(line.startswith("again ") for line in long)


def test_the_last_line_plays_the_same_again(probelet: Probelet) -> None:
    arguments = [SERVER, "--scenario", SLOW, "--against", CAREFUL, "--seed", "7", "--duration", "4m"]
    arguments += ["--kubelet-version", "1.34"]
    first = probelet("simulate", *arguments)
    command = shlex.split(first.out.splitlines()[-1].removeprefix("again"))
    assert command[:2] == ["probelet", "simulate"]
    assert probelet(*command[1:]).out == first.out


def test_the_document_is_the_same_each_time_and_the_seed_counts(probelet: Probelet) -> None:
    arguments = [SERVER, "--scenario", "gc-pause", "--no-advice"]
    first = document(probelet, *arguments)
    assert first == document(probelet, *arguments)
    other = document(probelet, *arguments, "--seed", "2")
    assert other["verdict"] != first["verdict"]
    assert (first["seed"], other["seed"]) == (1, 2)


def test_advice_has_the_verdict_of_its_own_play(probelet: Probelet, tmp_path: Path) -> None:
    found = document(probelet, SERVER, "--scenario", SLOW)
    advice = found["advice"][0]
    assert (advice["path"], advice["old"], advice["new"]) == (
        "spec.template.spec.containers[0].readinessProbe.timeoutSeconds",
        "1",
        "3",
    )
    changed = tmp_path / "changed.yaml"
    handler = "httpGet: { path: /readiness, port: 8888 }"
    text = Path(SERVER).read_text()
    assert handler in text
    changed.write_text(text.replace(handler, f"{handler}\n            timeoutSeconds: 3"))
    assert document(probelet, str(changed), "--scenario", SLOW)["verdict"] == advice["verdict"]


def test_two_versions_side_by_side_get_the_same_requests(probelet: Probelet) -> None:
    arguments = [SERVER, "--scenario", SLOW, "--against", CAREFUL]
    found = document(probelet, *arguments)
    offered = [run["verdict"]["requests"]["offered"] for run in (found, found["against"])]
    assert offered == [180_000, 180_000]
    assert found["against"]["verdict"]["requests"]["lost"] == 0
    lines = rows(probelet("simulate", *arguments).out)
    assert lines["unready"][0].startswith("FILE: 3 of 3 replicas")
    assert "--against: no replica left its Service" in lines["unready"][0]
    assert lines["killed"] == ["nothing (both)"]


def test_without_a_scenario_each_built_in_has_a_line(probelet: Probelet) -> None:
    ended = probelet("simulate", SERVER)
    assert (ended.code, ended.err) == (0, "")
    listed = probelet("simulate", "--list").out.splitlines()
    names = [line.split()[0] for line in listed]
    lines = ended.out.splitlines()
    assert [line.split()[0] for line in lines[1:11]] == names
    assert all(len(line) <= 80 for line in lines[:11])
    assert len({len(line) for line in lines[:11]}) == 1


def test_a_built_in_can_be_printed_and_played_as_a_file(probelet: Probelet, tmp_path: Path) -> None:
    mine = tmp_path / "overload.yaml"
    mine.write_text(probelet("simulate", "--show", "overload").out)
    played = [document(probelet, SERVER, "--scenario", name, "--no-advice") for name in ("overload", str(mine))]
    assert played[0].pop("command") != played[1].pop("command")
    assert played[0] == played[1]


def test_the_schema_is_printed(probelet: Probelet) -> None:
    schema = json.loads(probelet("simulate", "--schema").out)
    assert list(mistakes({"apiVersion": "probelet.dev/v1alpha1", "kind": "Scenario"}, schema, schema)) == []
    assert list(mistakes({"kind": "Scenario"}, schema, schema))


def test_pictures_are_written(probelet: Probelet, tmp_path: Path) -> None:
    html, svg, trace = (tmp_path / f"a.{suffix}" for suffix in ("html", "svg", "pftrace"))
    arguments = ["--html", str(html), "--svg", str(svg), "--perfetto", str(trace), "--no-advice"]
    assert probelet("simulate", SERVER, "--scenario", SLOW, *arguments).code == 0
    assert html.read_text().startswith("<!DOCTYPE html>")
    assert svg.read_text().startswith("<svg")
    assert trace.stat().st_size > 1_000


def test_a_picture_that_cannot_be_written_costs_no_verdict(probelet: Probelet) -> None:
    ended = probelet("simulate", SERVER, "--scenario", SLOW, "--no-advice", "--html", "/dev/full")
    assert (ended.code, ended.err) == (3, "probelet simulate: /dev/full: No space left on device\n")
    assert "requests  " in ended.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "no manifest: FILE is required"),
        ([SERVER, "-o", "json"], "-o json, --against, --guard and pictures need --scenario"),
        ([SERVER, "--scenario", "overlaod"], 'there is no scenario or file "overlaod"; did you mean overload?'),
        ([SERVER, "--scenario", "no.yaml"], "no.yaml: cannot be read: No such file or directory"),
        (["no.yaml", "--scenario", "leak"], "no.yaml: cannot be read: No such file or directory"),
        ([SERVER, CAREFUL, "--scenario", "leak"], f"{CAREFUL}:3: Deployment server: metadata.name: Duplicate value: "),
        ([SERVER, "--scenario", "leak", "--html", "no/a.html"], "no/a.html: there is no directory no"),
        ([SERVER, "--scenario", "leak", "--html", str(ROOT)], f"{ROOT}: is a directory; want a file"),
        (["--show", "leek"], 'there is no scenario "leek"; did you mean leak?'),
        ([SERVER, "--duration", "-5s"], 'Invalid value for --duration: "-5s" is not a duration above zero; '),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(probelet: Probelet, arguments: list[str], line: str) -> None:
    ended = probelet("simulate", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"probelet simulate: {line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "faults: [{type: exit, container: wep}]",
            '3: faults[0].container: Not found: "wep": no container of the simulation matches',
        ),
        (
            "faults: [{type: node-slow, node: node-7}]",
            '3: faults[0].node: Not found: "node-7": no node of the simulation matches',
        ),
        (
            "traffic: [{service: shop, rate: 5}]",
            '3: traffic[0].service: Not found: "shop": no Service or workload of the manifests',
        ),
    ],
)
def test_a_scenario_that_names_what_is_not_there(probelet: Probelet, tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"apiVersion: probelet.dev/v1alpha1\nkind: Scenario\n{text}\n")
    ended = probelet("simulate", SERVER, "--scenario", str(path))
    assert (ended.code, ended.out, ended.err) == (2, "", f"probelet simulate: {path}:{line}\n")


def test_an_entry_for_another_workload_is_a_warning(probelet: Probelet, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    head = "apiVersion: probelet.dev/v1alpha1\nkind: Scenario\nduration: 1m\n"
    path.write_text(f"{head}containers: [{{match: other}}]\ntraffic: [{{rate: 5}}]\n")
    ended = probelet("simulate", SERVER, "--scenario", str(path))
    assert ended.code == 0
    assert ended.err == (
        f'probelet simulate: {path}:4: warning: containers[0].match: Not found: "other": no container of the manifests '
        "matches\n"
    )


def interrupt_after(monkeypatch: pytest.MonkeyPatch, seconds: float, *, once: bool = True) -> None:
    """Ctrl-C at a moment of virtual time."""
    run, pressed = VirtualCluster.run, []

    def interrupted(self: VirtualCluster, duration: str) -> None:
        if self.now >= seconds and not (once and pressed):
            pressed.append(self.now)
            raise KeyboardInterrupt
        run(self, duration)

    monkeypatch.setattr(VirtualCluster, "run", interrupted)


def test_ctrl_c_ends_a_simulation_with_what_there_is(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 300)
    ended = probelet("simulate", SERVER, "--scenario", SLOW)
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^interrupted at 30\d s of 1\d min; so far:$", ended.out, re.MULTILINE)
    found = rows(ended.out)
    assert found["unready"][0].startswith("3 of 3 replicas")
    assert "change" not in found


def test_ctrl_c_while_everything_starts(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 5)
    found = document(probelet, SERVER, "--scenario", SLOW)
    assert found["played_seconds"] < 30
    assert found["verdict"]["requests"]["offered"] == 0


def test_ctrl_c_while_changes_are_played_keeps_the_rest(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    run, made = VirtualCluster.run, []

    def interrupted(self: VirtualCluster, duration: str) -> None:
        if self not in made:
            made.append(self)
        if len(made) > 2:
            raise KeyboardInterrupt
        run(self, duration)

    monkeypatch.setattr(VirtualCluster, "run", interrupted)
    found = document(probelet, SERVER, "--scenario", SLOW)
    assert found["played_seconds"] == found["scenario"]["duration_seconds"]
    assert [advice["id"] for advice in found["advice"]] == ["readiness-timeout"]
    assert "Not all changes that may help were tried: the simulation was interrupted." in found["findings"]


def test_an_incident_has_a_line_for_its_beginning_and_one_for_its_end(probelet: Probelet) -> None:
    many = str(LAB / "three-workloads.yaml")
    ended = probelet("simulate", many, "--scenario", SLOW, "--no-advice")
    assert (ended.code, ended.err) == (0, "")
    [lines] = rows(ended.out)["incident"]
    assert re.match(
        r"at \d+ s shared, target shared: 12 of 12 pods that ask shared fail \(header_timeout\), of ", lines
    )
    assert re.search(r" at \d+ s shared, target shared: over$", lines)
    assert all(len(line) <= 80 for line in ended.out.splitlines() if not line.startswith("again "))
    [incident] = document(probelet, many, "--scenario", SLOW, "--no-advice")["incidents"]
    assert (incident["kind"], incident["shared"], incident["value"]) == ("shared", "target", "shared")
    assert (incident["pods"], incident["workloads"], incident["killed"]) == (12, 3, 0)
    assert incident["from_seconds"] <= incident["said_seconds"] < incident["to_seconds"]


def test_a_workload_of_its_own_is_no_shared_incident(probelet: Probelet) -> None:
    [incident] = document(probelet, SERVER, "--scenario", SLOW, "--no-advice")["incidents"]
    assert (incident["kind"], incident["value"]) == ("workload", "default/Deployment/server")
    assert "which ask shared" in incident["evidence"]
