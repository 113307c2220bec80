"""The pre-commit hook and the composite action, each called as its tool calls it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.json_schema import mistakes
from tests.support.paths import ROOT
from tests.unit.cli.lint.test_formats import SCHEMA

HOOK_FIELDS = {
    *("id", "name", "entry", "language", "files", "exclude", "types", "types_or", "exclude_types", "always_run"),
    *("fail_fast", "verbose", "pass_filenames", "require_serial", "description", "language_version", "args", "stages"),
    *("minimum_pre_commit_version", "additional_dependencies", "alias", "log_file"),
}
"""The keys of a hook (pre-commit's clientlib.py, MANIFEST_HOOK_DICT)."""

WARNED = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe:
        httpGet: {path: /livez, port: 8080}
        periodSeconds: 5
        timeoutSeconds: 9
        failureThreshold: 9
"""
WRONG = f"{WARNED}        failureTreshold: 9\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    """The variables of a process whose PATH has this probelet first."""
    programs = Path(sys.executable).parent
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(Path.home()), **more}


def run_hook(args: list[str], files: list[str]) -> subprocess.CompletedProcess[str]:
    """What pre-commit runs: the words of ``entry``, the arguments, the files of the commit; without a shell."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook.keys() <= HOOK_FIELDS
    assert hook["language"] == "python"
    command = [*shlex.split(hook["entry"]), *hook.get("args", []), *args, *files]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=False, timeout=60)


def test_the_hook_lints_the_files_of_a_commit() -> None:
    Path("a b.yaml").write_text(WARNED)
    Path("wrong.yaml").write_text(WRONG)
    Path("values.yaml").write_text("replicas: 3\n")
    assert run_hook([], ["a b.yaml", "values.yaml"]).returncode == 0
    ended = run_hook([], ["a b.yaml", "wrong.yaml", "values.yaml"])
    assert ended.returncode == 1
    assert "PL003" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert run_hook(["--severity", "warning"], ["a b.yaml"]).returncode == 1


def test_the_hook_lints_whole_directories_without_the_files_of_the_commit() -> None:
    Path("deploy").mkdir()
    Path("deploy/wrong.yaml").write_text(WRONG)
    assert run_hook(["deploy"], []).returncode == 1


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return found


def resolved(text: str, inputs: dict[str, str], outputs: dict[str, str]) -> str:
    """An expression of a workflow, as far as this action has them."""
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {f"steps.lint.outputs.{name}": value for name, value in outputs.items()}
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: known[found[1]], text)


def run_action(folder: Path, **given: str) -> tuple[int, dict[str, str], list[str], str]:
    """What a runner does with the steps: exit code, the outputs of the step `lint`, the actions used, and the log."""
    found, output = action(), folder / "output"
    output.write_text("")
    names = {name.replace("_", "-"): value for name, value in given.items()}
    assert names.keys() <= found["inputs"].keys()
    inputs = {name: names.get(name, each["default"]) for name, each in found["inputs"].items()}
    outputs: dict[str, str] = {}
    used, log = list[str](), ""
    assert found["runs"]["using"] == "composite"
    for step in found["runs"]["steps"]:
        wanted = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) == 'true' \}\}", step.get("if", ""))
        assert ("if" in step) == (wanted is not None)
        if wanted is not None and inputs[wanted[1]] != "true":
            continue
        if "uses" in step:
            used.append(f"{step['uses']} {resolved(step['with']['sarif_file'], inputs, outputs)}")
            continue
        # A runner's shell for `bash`, with the script in a file.
        script = folder / "step.sh"
        script.write_text(step["run"])
        assert "${{" not in step["run"], "an input in a script is run as a part of it"
        env = {name: resolved(value, inputs, outputs) for name, value in step.get("env", {}).items()}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            capture_output=True,
            text=True,
            env=environment(GITHUB_ACTION_PATH=str(ROOT), GITHUB_OUTPUT=str(output), **env),
            check=False,
            timeout=120,
        )
        log += ended.stdout
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        if ended.returncode:
            return ended.returncode, outputs, used, log + ended.stderr
    return 0, outputs, used, log


def test_the_action_annotates_and_uploads_before_it_fails(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy/wrong.yaml").write_text(WRONG)
    code, outputs, used, log = run_action(tmp_path, paths="deploy")
    assert code == 1
    assert outputs == {"sarif-file": "probelet.sarif", "exit-code": "1"}
    assert used == ["github/codeql-action/upload-sarif@v3 probelet.sarif"]
    assert "::error file=deploy/wrong.yaml,line=13,col=9,title=PL003" in log
    sarif = json.loads((tmp_path / "probelet.sarif").read_text())
    assert list(mistakes(sarif, SCHEMA, SCHEMA)) == []
    assert "PL003" in [result["ruleId"] for result in sarif["runs"][0]["results"]]


def test_the_action_passes_its_inputs_on(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WARNED)
    assert run_action(tmp_path, paths="web.yaml", upload="false")[0] == 0
    code, outputs, used, _ = run_action(
        tmp_path, paths="web.yaml", severity="warning", upload="false", fail="false", sarif_file="a.sarif"
    )
    assert (code, outputs["exit-code"], used) == (0, "1", [])
    assert (tmp_path / "a.sarif").exists()
    (tmp_path / "wrong.yaml").write_text(WRONG)
    assert run_action(tmp_path, paths="web.yaml\nwrong.yaml\n", upload="false")[0] == 1
    (tmp_path / "empty").mkdir()
    assert run_action(tmp_path, paths="empty", args="--require-workloads", upload="false")[0] == 2


def test_an_input_with_the_words_of_a_shell_is_no_command(tmp_path: Path) -> None:
    run_action(tmp_path, paths="web.yaml; touch made $(touch made)", upload="false")
    assert not (tmp_path / "made").exists()
