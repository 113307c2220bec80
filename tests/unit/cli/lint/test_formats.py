"""The formats of ``probelet lint`` beside the rules of those who read them."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from probelet.cli.lint.github import github
from probelet.cli.lint.junit import junit
from probelet.cli.lint.sarif import sarif
from probelet.lint.finding import Finding

from tests.support.json_schema import mistakes
from tests.unit.cli.conftest import Probelet

# The schema of OASIS as the crate serde-sarif 0.8.0 (MIT) publishes it, with another indent.
SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text())

MANIFEST = """\
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
        failureTreshold: 3
"""


def one(**members: Any) -> Finding:
    usual: dict[str, Any] = {
        "rule": "PL401",
        "severity": "warning",
        "object": "Pod/default/web",
        "path": "spec",
        "file": "web.yaml",
        "line": 4,
        "column": 1,
        "message": "a message",
    }
    return Finding(**{**usual, **members})


def test_the_log_is_valid_sarif_and_has_every_finding(probelet: Probelet, tmp_path: Path) -> None:
    folder = tmp_path / "a folder, ü"
    folder.mkdir()
    (folder / "web.yaml").write_text(MANIFEST)
    (folder / "broken.yaml").write_text("kind: [")
    ended = probelet("lint", str(folder), "-o", "sarif")
    log = json.loads(ended.out)
    assert list(mistakes(log, SCHEMA, SCHEMA)) == []
    (run,) = log["runs"]
    # Other rules may have something to say about this probe one day.
    known = ("PL001", "PL003", "PL401")
    run["results"] = [result for result in run["results"] if result["ruleId"] in known]
    described = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("PL001", "error"),
        ("PL401", "warning"),
        ("PL003", "error"),
    ]
    assert all(described[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    region = run["results"][2]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 13, "startColumn": 9}


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": "2.0.0"},
        {"runs": [{"tool": {}}]},
        {"runs": [{"tool": {"driver": {"name": 1}}}]},
        {"runs": {}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_no_sarif(wrong: dict[str, Any]) -> None:
    log = {"version": "2.1.0", "runs": [], **wrong}
    assert list(mistakes(log, SCHEMA, SCHEMA)) != []


def test_a_fingerprint_survives_another_line_and_other_numbers() -> None:
    first, second, other = (
        json.loads(sarif([found], "1"))["runs"][0]["results"][0]["partialFingerprints"]
        for found in (one(), one(line=9, message="killed after 7 s"), one(path="metadata"))
    )
    assert first == second != other


def test_junit_has_a_case_for_each_finding_and_for_each_clean_file() -> None:
    findings = [one(message='<&"\x00>'), one(severity="error", file="b&.yaml")]
    text = "\n".join(junit(findings, ["a.yaml", "web.yaml", "b&.yaml"], "error"))
    root = ET.fromstring(text)
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in root] == [
        ("a.yaml", "1", "0"),
        ("web.yaml", "1", "0"),
        ("b&.yaml", "1", "1"),
    ]
    assert [failure.get("type") for failure in root.iter("failure")] == ["error"]
    assert '<&"\\x00>' in (root[1][0][0].text or "")


def test_an_annotation_is_one_line_whatever_the_names_are() -> None:
    (line,) = github([one(file="a,b:c%.yaml", message="one\ntwo: 100 %", severity="info", line=0, column=0)])
    assert re.fullmatch(r"::notice file=a%2Cb%3Ac%25.yaml,line=1,col=1,title=PL401 [\w-]+::.*", line)
    assert line.endswith("Pod/default/web: one%0Atwo: 100 %25")


def test_the_document_has_the_keys_of_the_interface(probelet: Probelet, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(MANIFEST)
    document = json.loads(probelet("lint", str(tmp_path), "-o", "json").out)
    assert document["schema"] == "probelet-lint/1"
    keys = {"rule", "severity", "object", "path", "file", "line", "column", "message"}
    assert all(keys <= row.keys() <= keys | {"confidence", "fix"} for row in document["findings"])
    (found,) = [row for row in document["findings"] if row["rule"] == "PL401"]
    assert found == {
        "rule": "PL401",
        "severity": "warning",
        "object": "Pod/default/web",
        "path": "spec.containers[0].livenessProbe.timeoutSeconds",
        "file": str(tmp_path / "web.yaml"),
        "line": 11,
        "column": 9,
        "message": found["message"],
    }
