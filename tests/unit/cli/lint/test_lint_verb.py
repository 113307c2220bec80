"""``probelet lint``: exit codes, flags, the settings file, the baseline, and files that it changes."""

import io
import json
import stat
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Probelet

WARNED = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe: # it hangs
        httpGet: {path: /livez, port: 8080}
        periodSeconds: 5
        timeoutSeconds: 9
        failureThreshold: 9
"""
WRONG = f"{WARNED}        failureTreshold: 9\n"
FIXABLE = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe: {httpGet: {path: /livez, port: 8080}, failureThreshold: 9}
      readinessProbe:
        exec: # asks itself
          command: ["wget", "-qO-", "http://localhost:8080/readyz"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(out: str) -> list[str]:
    return [row["rule"] for row in json.loads(out)["findings"]]


@pytest.mark.parametrize(
    ("text", "flags", "code"),
    [
        (WARNED, (), 0),
        (WARNED, ("--severity", "error"), 0),
        (WARNED, ("--severity", "warning"), 1),
        (WARNED, ("--severity", "info"), 1),
        (WRONG, (), 1),
        (WRONG, ("--severity", "error"), 1),
        ("a: [", (), 1),
    ],
)
def test_the_exit_code(probelet: Probelet, text: str, flags: tuple[str, ...], code: int) -> None:
    Path("web.yaml").write_text(text)
    assert probelet("lint", "web.yaml", *flags).code == code


def test_severity_leaves_out_what_is_less_severe(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WRONG)
    everything = rules(probelet("lint", ".", "-o", "json").out)
    errors = rules(probelet("lint", ".", "-o", "json", "--severity", "error").out)
    assert {"PL003", "PL401"} <= {*everything}
    assert errors == ["PL003"]


def test_a_person_reads_place_severity_rule_object_and_message(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WRONG)
    ended = probelet("lint", "web.yaml", "--severity", "error")
    head, line, _, summary = ended.out.splitlines()
    assert head == "web.yaml"
    assert line == (
        "  13:9  error    PL003  Pod/default/web: spec.containers[0].livenessProbe.failureTreshold: unknown field, "
        "ignored; did you mean failureThreshold?"
    )
    assert summary == "1 error in 1 of 1 file with 1 workload"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "name a manifest, a directory, or -"),
        (("nowhere.yaml",), "nowhere.yaml: cannot be read: No such file or directory"),
        (("web.yaml", "--config", "nowhere.yaml"), "nowhere.yaml: cannot be read: No such file or directory"),
        (("web.yaml", "--baseline", "nowhere.json"), "nowhere.json: cannot be read: No such file or directory"),
        (("web.yaml", "--baseline", "web.yaml"), "web.yaml: no baseline of 'probelet lint --write-baseline'"),
        (("web.yaml", "--client-timeout", "-3s"), "is not a duration above zero"),
        (("web.yaml", "--pods-per-node", "0"), "--pods-per-node: 0 is not above 0"),
        (("web.yaml", "--explain", "PL99"), 'there is no rule "PL99"'),
        (("-", "--fix"), "--fix cannot change standard input"),
    ],
)
def test_a_bad_command_line_is_one_line_and_code_2(probelet: Probelet, arguments: tuple[str, ...], line: str) -> None:
    Path("web.yaml").write_text(WARNED)
    ended = probelet("lint", *arguments)
    assert ended.code == 2
    assert line in ended.err.splitlines()[0]


def test_the_files_that_can_be_read_are_linted_beside_one_that_cannot(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WRONG)
    ended = probelet("lint", "web.yaml", "nowhere.yaml", "-o", "json")
    assert ended.code == 2
    assert "PL003" in rules(ended.out)


def test_standard_input_is_a_file_named_dash(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    ended = probelet("lint", "-", "-o", "json")
    assert {row["file"] for row in json.loads(ended.out)["findings"]} == {"-"}


def test_empty_standard_input_is_a_failure_if_workloads_are_required(
    probelet: Probelet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for flags, code in (((), 0), (("--require-workloads",), 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        ended = probelet("lint", "-", *flags)
        assert ended.code == code
        assert ("no workload in the input" in ended.err) == (code == 2)
    Path("web.yaml").write_text(WARNED)
    assert probelet("lint", "web.yaml", "--require-workloads").code == 0


def test_the_report_ends_with_how_often_each_rule_found_something(probelet: Probelet) -> None:
    for name in ("a.yaml", "b.yaml"):
        Path(name).write_text(WRONG)
    Path("probelet-lint.yaml").write_text("severities: {PL205: off, PL302: off}\n")
    tail = probelet("lint", ".").out.splitlines()[-4:]
    assert tail == [
        "2 error    PL003  unknown-field",
        "2 warning  PL401  timeout-above-period",
        "",
        "2 errors, 2 warnings in 2 of 3 files with 2 workloads; passed over: 1 document of other kinds than Kubernetes "
        "objects",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "is_coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_the_report_is_coloured_on_a_terminal(
    probelet: Probelet, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], is_coloured: bool
) -> None:
    Path("web.yaml").write_text(WRONG)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    probelet("lint", "web.yaml")
    text = screen.getvalue()
    assert ("\x1b[31;1merror\x1b[0m" in text) == is_coloured
    assert ("\x1b" in text) == is_coloured


def test_a_pipe_gets_no_colour(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WRONG)
    assert "\x1b" not in probelet("lint", "web.yaml").out


def test_a_fix_that_would_change_what_the_probe_does_is_left_with_a_reason(probelet: Probelet) -> None:
    text = FIXABLE.replace(" # asks itself", "").replace('"-qO-"', '"-qO-", "-T", "0.5"')
    Path("web.yaml").write_text(text)
    said = probelet("lint", "web.yaml", "--fix").err.splitlines()
    assert said == [
        "probelet lint: 0 findings fixed in 0 files",
        "probelet lint: web.yaml:10: PL520 is left: the client gives up after 0.5 s, and timeoutSeconds has whole "
        "seconds",
    ]
    assert Path("web.yaml").read_text() == text


def test_the_settings_file_of_the_directory_counts(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WARNED)
    Path("probelet-lint.yaml").write_text("severities: {PL401: error}\n")
    assert probelet("lint", "web.yaml").code == 1
    Path("probelet-lint.yaml").write_text("severities: {PL401: off}\n")
    assert "PL401" not in probelet("lint", "web.yaml").out
    Path("other.yaml").write_text("{}\n")
    assert "PL401" in probelet("lint", "web.yaml", "--config", "other.yaml").out


def test_a_mistake_in_the_settings_file_is_a_line_with_its_place(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WARNED)
    Path("probelet-lint.yaml").write_text("severity: {}\nseverities:\n  PL999: error\n  PL401: fatal\n")
    ended = probelet("lint", "web.yaml")
    assert ended.code == 2
    lines = ended.err.splitlines()
    assert lines[0].startswith("probelet lint: probelet-lint.yaml:1: severity: unknown field")
    assert lines[1].startswith("probelet lint: probelet-lint.yaml:3: severities.PL999: there is no such rule")
    assert lines[2].startswith('probelet lint: probelet-lint.yaml:4: severities.PL401: Unsupported value: "fatal"')


def test_a_baseline_leaves_out_the_findings_of_its_day(probelet: Probelet) -> None:
    Path("web.yaml").write_text(WRONG)
    assert probelet("lint", ".", "--write-baseline", "known.json").code == 0
    ended = probelet("lint", ".", "--baseline", "known.json")
    assert ended.code == 0
    assert "in the baseline" in ended.out
    # Lines move, and a second mistake comes: only that one is new.
    Path("web.yaml").write_text("# A comment.\n" + WRONG + "      readinesProbe: {}\n")
    ended = probelet("lint", ".", "--baseline", "known.json", "-o", "json")
    assert [row["path"] for row in json.loads(ended.out)["findings"]] == ["spec.containers[0].readinesProbe"]
    Path("web.yaml").write_text(WARNED)
    assert "findings of the baseline that are gone: 1;" in probelet("lint", ".", "--baseline", "known.json").err


def test_diff_shows_what_fix_then_does(probelet: Probelet) -> None:
    path = Path("web.yaml")
    path.write_bytes(b"\xef\xbb\xbf" + FIXABLE.replace(" # asks itself", "").encode())
    path.chmod(0o640)
    before = path.read_bytes()
    ended = probelet("lint", "web.yaml", "--diff")
    assert ended.code == 1
    assert path.read_bytes() == before
    added = [line[1:] for line in ended.out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added == ["        httpGet:", "          path: /readyz", "          port: 8080"]
    ended = probelet("lint", "web.yaml", "--fix")
    assert ended.err == "probelet lint: 1 finding fixed in 1 file\n"
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert all(f"{line}\n" in path.read_text() for line in added)
    assert [entry.name for entry in Path().iterdir()] == ["web.yaml"]
    ended = probelet("lint", "web.yaml", "--diff")
    assert (ended.code, ended.out) == (0, "")


def test_a_fix_that_would_lose_a_comment_is_left_to_the_person(probelet: Probelet) -> None:
    Path("web.yaml").write_text(FIXABLE)
    said = probelet("lint", "web.yaml", "--fix").err
    assert said == (
        "probelet lint: 0 findings fixed in 0 files; 1 left, because a comment or an anchor is in the way\n"
    )
    assert Path("web.yaml").read_text() == FIXABLE


def test_a_difference_of_standard_input_is_shown(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FIXABLE.replace(" # asks itself", "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ended = probelet("lint", "-", "--diff")
    assert ended.code == 1
    assert ended.out.startswith("--- -\n+++ -\n@@")
    assert "+        httpGet:\n" in ended.out


def test_the_rules_are_listed_and_explained(probelet: Probelet) -> None:
    listed = probelet("lint", "--rules").out
    assert all(len(line) > 40 for line in listed.splitlines())
    for name in ("PL203", "pl203", "liveness-faster-than-readiness"):
        ended = probelet("lint", "--explain", name)
        assert ended.out.startswith("PL203 liveness-faster-than-readiness (error)\n")
        assert "Formula: " in ended.out


def test_a_rule_that_fails_hides_no_other_finding(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from probelet.lint import engine, registry

    def broken(_: object) -> list[object]:
        raise KeyError("x")

    found = registry.rules()
    monkeypatch.setattr(engine, "rules", lambda: {**found, "PL203": replace(found["PL203"], check=broken)})
    Path("web.yaml").write_text(WRONG)
    ended = probelet("lint", "web.yaml", "-o", "json")
    assert ended.code == 3
    assert {"PL003", "PL401"} <= {*rules(ended.out)}
    assert "probelet lint: web.yaml: Pod/default/web: PL203 failed: KeyError: 'x'" in ended.err
