"""Comments and annotations that accept a finding: what they count for, and what is wrong with them."""

from pathlib import Path

import pytest

from tests.unit.lint.linted import report

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe:
        httpGet: {path: /livez, port: 8080}
        periodSeconds: 5
        timeoutSeconds: 30
    - name: two
      image: registry.example/web:1
      livenessProbe: {httpGet: {path: /livez, port: 8081}, periodSeconds: 5, timeoutSeconds: 30}
"""
WHY = "# probelet-lint: disable=PL401 reason=a backup blocks it for 20 s"


def containers(folder: Path, text: str) -> list[str]:
    """The indexes of the containers with the finding, and the other findings."""
    found = report(folder, text).findings
    return [finding.path[16] if finding.rule == "PL401" else finding.rule for finding in found]


def at(line: int, comment: str, *, own: bool = False) -> str:
    lines = POD.splitlines()
    lines[line - 1] = f"{comment}\n{lines[line - 1]}" if own else f"{lines[line - 1]} {comment}"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (POD, ["0", "1"]),
        (at(12, WHY), ["1"]),
        (at(12, f"        {WHY}", own=True), ["1"]),
        (at(9, WHY), ["1"]),
        (at(7, WHY), ["1"]),
        (at(7, f"    {WHY}", own=True), ["1"]),
        (at(15, WHY), ["0"]),
        (at(6, WHY), []),
        (at(1, WHY, own=True), []),
        (f"---\n{WHY}\n\n# Another comment.\n{POD}", []),
        (at(10, WHY), ["0", "1"]),
        (at(11, WHY), ["0", "1"]),
        (at(12, WHY.replace("PL401", "PL203,PL401")), ["1"]),
        (at(12, WHY.replace("# ", "#  ")), ["1"]),
        (at(8, f"      env: [{{name: A, value: '{WHY}'}}]", own=True), ["0", "1"]),
        (POD.replace("  name: web\nspec", f"  name: web\n  annotations:\n    a: |\n      {WHY}\nspec"), ["0", "1"]),
    ],
)
def test_a_comment_counts_for_what_begins_on_its_line(tmp_path: Path, text: str, left: list[str]) -> None:
    assert containers(tmp_path, text) == left


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("# probelet-lint: disable=PL401", "PL006"),
        ("# probelet-lint: disable=PL401 reason=", "PL006"),
        ("# probelet-lint: disable=PL999 reason=x", "PL007"),
        ("# probelet-lint: disable=all reason=x", "PL007"),
        ("# probelet-lint: disable PL401", "PL007"),
        ("# probelet-lint: enable=PL401 reason=x", "PL007"),
        ("# probelet-lint: disable=PL401, PL203 reason=x", "PL007"),
    ],
)
def test_a_comment_with_a_mistake_suppresses_nothing_and_is_an_error(tmp_path: Path, comment: str, rule: str) -> None:
    found = report(tmp_path, at(12, comment)).findings
    assert sorted(finding.rule for finding in found) == sorted([rule, "PL401", "PL401"])
    (mistake,) = [finding for finding in found if finding.rule == rule]
    assert (mistake.severity, mistake.line, mistake.column) == ("error", 12, 28)


def annotated(text: str) -> str:
    return POD.replace("  name: web\nspec", f"  name: web\n  annotations:\n    probelet.dev/lint-ignore: {text}\nspec")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("PL401 reason=it is slow", []),
        ("PL203 reason=a; PL401 reason=b; c", []),
        ("|\n      PL203 reason=a\n      PL401 reason=b", []),
        ("PL203 reason=a", ["0", "1"]),
        ("PL401", ["PL006", "0", "1"]),
        ("everything", ["PL007", "0", "1"]),
    ],
)
def test_an_annotation_counts_for_its_object(tmp_path: Path, text: str, left: list[str]) -> None:
    assert containers(tmp_path, annotated(text)) == left


def test_an_annotation_of_a_pod_template_counts_too(tmp_path: Path) -> None:
    text = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {a: b}}\n"
        "  template:\n    metadata:\n      labels: {a: b}\n"
        "      annotations: {probelet.dev/lint-ignore: PL401 reason=it is slow}\n"
        "    spec:\n      containers:\n      - {name: a, image: i, livenessProbe: {exec: {command: [a]}, "
        "periodSeconds: 5, timeoutSeconds: 9, failureThreshold: 9}}\n"
    )
    found = report(tmp_path, text)
    assert "PL401" not in [finding.rule for finding in found.findings]
    assert found.suppressed == 1
