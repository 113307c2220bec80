"""Every form in which manifests come: the findings are the same, and each is at its line and column."""

import inspect
import json
import os
import sys
from pathlib import Path

import pytest
import yaml
from probelet.lint.engine import Report, lint
from probelet.lint.read.source import sources
from probelet.lint.settings import Settings
from probelet.spec.read.load import FILE_BYTES_MAX

from tests.unit.lint.linted import ENGINE, of_rule, report

POD = """\
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
        timeoutSeconds: 30
"""
PATH = "spec.containers[0].livenessProbe.timeoutSeconds"


def places(found: Report, rule: str = "PL401") -> list[tuple[str, int, int]]:
    return [(finding.path, finding.line, finding.column) for finding in of_rule(found.findings, rule)]


def as_list(text: str) -> str:
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    return f"apiVersion: v1\nkind: List\nitems:\n  -\n{indented}"


FORMS = {
    "alone": POD,
    "after a comment": f"# A comment.\n---\n{POD}",
    "second document": f"a: 1\n---\n{POD}",
    "CRLF": POD.replace("\n", "\r\n"),
    "in a List": as_list(POD),
    "beside wide characters": POD.replace("web:1", "wüb:1\n      env: [{name: A, value: 'ä: #'}]"),
    "anchored": POD.replace("livenessProbe:\n", "ports: &p [{containerPort: 1}]\n      livenessProbe: &a\n"),
    "tagged": POD.replace("livenessProbe:\n", "livenessProbe: !!map\n"),
    "JSON": json.dumps(yaml.safe_load(POD)),
    "JSON in lines": json.dumps(yaml.safe_load(POD), indent=1),
    "JSON with tabs": json.dumps(yaml.safe_load(POD), indent="\t"),
    "JSON with a pair of escapes": json.dumps(
        yaml.safe_load(POD.replace("web:1", "web:1\n      env: [{name: A, value: \U0001f600\U0001f600}]"))
    ),
    "KYAML": """---
{
  apiVersion: "v1", # one
  kind: "Pod",
  metadata: {name: "web"},
  spec: {
    containers: [{
      name: "web",
      image: "registry.example/web:1",
      livenessProbe: {
        httpGet: {path: "/livez", port: 8080},
        periodSeconds: 5, timeoutSeconds: 30,
      },
    }],
  },
}
""",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_finding_is_at_its_field_in_every_form(tmp_path: Path, form: str) -> None:
    text = FORMS[form]
    before, _, _ = text.partition("timeoutSeconds")
    before = before.removesuffix('"')
    (found,) = of_rule(report(tmp_path, text).findings, "PL401")
    line = before.count("\n") + 1
    assert (found.path, found.line, found.column) == (PATH, line, len(before) - before.rfind("\n"))


def test_a_field_behind_an_anchor_is_where_it_is_written(tmp_path: Path) -> None:
    text = POD.replace("livenessProbe:", "livenessProbe: &slow") + "      readinessProbe: *slow\n"
    found = report(tmp_path, text)
    assert places(found) == [(PATH, 11, 9), (PATH.replace("liveness", "readiness"), 11, 9)]
    merged = POD.replace("livenessProbe:", "livenessProbe: &slow") + (
        "      readinessProbe:\n        <<: *slow\n        periodSeconds: 40\n"
    )
    assert places(report(tmp_path, merged)) == [(PATH, 11, 9)]


def test_a_field_that_is_missing_is_at_its_nearest_parent(tmp_path: Path) -> None:
    text = POD.replace("        timeoutSeconds: 30\n", "").replace("periodSeconds: 5", "timeoutSeconds: 20")
    assert places(report(tmp_path, text)) == [(PATH, 10, 9)]


@pytest.mark.parametrize(
    ("kind", "version", "prefix"),
    [
        ("Deployment", "apps/v1", "spec.template."),
        ("StatefulSet", "apps/v1", "spec.template."),
        ("DaemonSet", "apps/v1", "spec.template."),
        ("ReplicaSet", "apps/v1", "spec.template."),
        ("ReplicationController", "v1", "spec.template."),
        ("Job", "batch/v1", "spec.template."),
        ("CronJob", "batch/v1", "spec.jobTemplate.spec.template."),
    ],
)
def test_every_workload_has_its_own_path(tmp_path: Path, kind: str, version: str, prefix: str) -> None:
    spec = {**yaml.safe_load(POD)["spec"], **({"restartPolicy": "Never"} if "Job" in kind else {})}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    body = {"template": template, **({"selector": {"matchLabels": {"a": "b"}}} if version == "apps/v1" else {})}
    if kind == "CronJob":
        body = {"schedule": "* * * * *", "jobTemplate": {"spec": body}}
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": body}
    (found,) = of_rule(report(tmp_path, yaml.safe_dump(document)).findings, "PL401")
    assert (found.object, found.path) == (f"{kind}/shop/web", f"{prefix}{PATH}")


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "x"},
    "spec": {"versions": [{"schema": {"livenessProbe": {"timeoutSecond": 1, "periodSeconds": -1}}}]},
}


@pytest.mark.parametrize(
    "text",
    [
        yaml.safe_dump(CRD),
        yaml.safe_dump({"apiVersion": "serving.example/v1", "kind": "Deployment", "spec": {"replicas": "x"}}),
        "replicaCount: 2\nlivenessProbe: {periodSecond: 1}\n",
        "- op: replace\n  path: /spec/replicas\n  value: 2\n",
        "just a text\n",
        "",
        "# only a comment\n---\n---\n",
        "apiVersion: v1\nkind: List\nitems: []\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n",
        yaml.safe_dump(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web"},
                "spec": {"template": {"spec": {"containers": [{"name": "a", "livenessProbe": {"periodSeconds": 3}}]}}},
            }
        ),
    ],
    ids=["crd", "other group", "values", "json patch", "text", "empty", "comments", "list", "replicas patch", "patch"],
)
def test_what_is_no_workload_is_passed_over(tmp_path: Path, text: str) -> None:
    found = report(tmp_path, text)
    assert (found.findings, found.unreadable, found.workloads) == ([], [], 0)


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("a: [", "PL001", 1),
        ("a: 1\n\tb: 2\n", "PL001", 2),
        ("{{ if .Values.web }}\n" + POD, "PL002", 1),
        (POD.replace("timeoutSeconds: 30", 'timeoutSeconds: "{{ .Values.timeout }}"'), "PL002", 11),
        (POD.replace("timeoutSeconds: 30", "timeoutSeconds: ${TIMEOUT}"), "PL002", 11),
        (POD.replace("registry.example/web:1", "[IMAGE_URL]"), "PL002", 7),
        (POD.replace("timeoutSeconds: 30", "timeoutSeconds: <seconds>"), "PL002", 11),
        (POD.replace("registry.example/web:1", "[registry.example/web]"), "PL004", 7),
        (POD.replace("timeoutSeconds: 30", "timeoutSecond: 30"), "PL003", 11),
        (POD.replace("timeoutSeconds: 30", "successThreshold: 2"), "PL004", 11),
        (POD.replace("apiVersion: v1\n", ""), "PL004", 1),
        (POD.replace("kind: Pod", "kind: Podd"), "PL004", 2),
        (POD.replace("apiVersion: v1", "apiVersion: extensions/v1beta1"), "PL004", 1),
        (POD.replace("timeoutSeconds: 30", "periodSeconds: 30"), "PL005", 11),
        (POD.replace("metadata: {name: web}", "metadata: {}"), "PL004", 3),
        (POD.replace("{name: web}", "{name: web, annotations: {probelet.dev/startup-seconds: soon}}"), "PL004", 3),
    ],
)
def test_a_mistake_of_the_text_has_a_finding_of_its_own(tmp_path: Path, text: str, rule: str, line: int) -> None:
    found = [finding for finding in report(tmp_path, text).findings if finding.rule.startswith("PL0")]
    assert [(finding.rule, finding.line) for finding in found] == [(rule, line)]


def test_a_name_that_the_api_server_makes_is_no_mistake(tmp_path: Path) -> None:
    found = report(tmp_path, POD.replace("{name: web}", "{generateName: web-}"))
    assert [(finding.rule, finding.object) for finding in found.findings] == [("PL401", "Pod/default/web-")]


def test_rules_leave_a_container_with_a_mistake_alone_and_see_the_others(tmp_path: Path) -> None:
    other = POD[POD.index("    - name") :].replace("name: web", "name: two")
    text = POD.replace("periodSeconds: 5", "periodSeconds: -5") + other
    found = report(tmp_path, text)
    assert [finding.path for finding in of_rule(found.findings, "PL401")] == [PATH.replace("[0]", "[1]")]
    assert [finding.path for finding in of_rule(found.findings, "PL004")] == [
        "spec.containers[0].livenessProbe.periodSeconds"
    ]


def test_nothing_of_a_broken_file_is_in_the_world(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD + "---\na: [")
    (tmp_path / "b.yaml").write_text(POD.replace("web", "two"))
    found = lint([tmp_path], ENGINE)
    assert found.workloads == 1
    assert {(Path(finding.file).name, finding.rule) for finding in found.findings} == {
        ("a.yaml", "PL001"),
        ("b.yaml", "PL401"),
    }


def test_directories_are_read_to_their_ends_and_links_are_not(tmp_path: Path) -> None:
    for name in ("b/c/web.yml", "b/web.json", "a.yaml", ".git/no.yaml", "node_modules/no.yaml", "b/no.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(POD)
    (tmp_path / "b" / "again").symlink_to(tmp_path)
    found = lint([tmp_path, tmp_path / "a.yaml"])
    assert [str(path.relative_to(tmp_path)) for path in found.paths.values()] == ["a.yaml", "b/web.json", "b/c/web.yml"]


def test_a_file_that_cannot_be_read_is_a_line_and_no_finding(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    found = lint([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    assert [line.rpartition("/")[2] for line in found.unreadable] == [
        "a.yaml: not UTF-8: byte 0xff",
        "b.yaml: cannot be read: No such file or directory",
    ]
    assert (found.findings, found.paths) == ([], {})


def test_severities_of_the_settings_count_for_every_rule(tmp_path: Path) -> None:
    text = POD + "        extra: 1\n"
    found = report(tmp_path, text, Settings(severities={**ENGINE.severities, "PL401": "error", "PL003": None}))
    assert [(finding.rule, finding.severity) for finding in found.findings] == [("PL401", "error")]


def test_what_cannot_be_read_in_a_directory_is_one_line_and_hides_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "circle.yaml").symlink_to("circle.yaml")
    (tmp_path / "long.yaml").symlink_to("a" * 300)
    (tmp_path / "below" / "above").symlink_to("..")
    (tmp_path / "below" / "above.yaml").symlink_to("..")
    (tmp_path / "gone.yaml").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe.yaml")
    with (tmp_path / "huge.yaml").open("wb") as huge:
        huge.truncate(100 * 1024 * 1024)
    (tmp_path / "below" / "web.yaml").write_text(POD)
    found = lint([tmp_path], ENGINE)
    # A link to a directory, a link to nothing and a pipe are no manifests.
    assert [line.rpartition("/")[2] for line in found.unreadable] == [
        "circle.yaml: cannot be read: Too many levels of symbolic links",
        f"huge.yaml: cannot be read: larger than {FILE_BYTES_MAX} bytes",
        "long.yaml: cannot be read: File name too long",
    ]
    assert (found.workloads, places(found)) == (1, [(PATH, 11, 9)])


def test_a_path_that_nobody_can_look_at_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    found = lint([tmp_path / "circle" / "web.yaml", tmp_path / ("a" * 300), tmp_path / "circle"], ENGINE)
    assert sorted(line.partition(": cannot be read: ")[2] for line in found.unreadable) == [
        "File name too long",
        "Too many levels of symbolic links",
        "Too many levels of symbolic links",
    ]


def test_the_depth_of_a_directory_is_no_depth_of_calls(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a"] * 300)
    deep.mkdir(parents=True)
    (deep / "web.yaml").write_text(POD)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        found = [source.name for source in sources([tmp_path])]
    finally:
        sys.setrecursionlimit(before)
    assert found == [str(deep / "web.yaml")]
