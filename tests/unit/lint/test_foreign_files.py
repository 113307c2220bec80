"""Files beside manifests, and parts of manifests: what a directory of a repository has that is no mistake."""

from pathlib import Path

import pytest
from probelet.lint.engine import lint
from probelet.lint.settings import Settings

from tests.unit.lint.linted import report


@pytest.mark.parametrize(
    ("text", "is_object"),
    [
        ("apiVersion: v1\nkind: [\n", True),
        ('{"kind": "Pod",\n', True),
        ("a: [\n", False),
        ('{"a": 1}\n{"a": 2}\n', False),
        ("theme: !!python/name:x.y\n", False),
        ("entries:\n- !KeyOf flow\n", False),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_if_it_is_named_or_looks_like_an_object(
    tmp_path: Path, text: str, is_object: bool
) -> None:
    (named,) = report(tmp_path, text).findings
    assert (named.rule, named.severity) == ("PL001", "error")
    found = lint([tmp_path])
    assert [(each.rule, each.severity) for each in found.findings] == ([("PL001", "error")] if is_object else [])
    assert found.others == (0 if is_object else 1)


def test_a_variable_on_a_line_of_its_own_makes_a_template(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Pod\nspec:\n  env:\n${ALL_VARIABLES}\n  - name: a\n"
    (found,) = report(tmp_path, text).findings
    assert (found.rule, found.severity) == ("PL002", "warning")


def test_the_placeholders_of_an_object_are_one_finding(tmp_path: Path) -> None:
    probe = "{httpGet: {path: /, port: 80}, periodSeconds: '${P}', timeoutSeconds: '${T}'}"
    text = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: a, livenessProbe: "
    (found,) = report(tmp_path, f"{text}{probe}}}]}}}}").findings
    assert found.rule == "PL002"
    assert found.message.endswith("; 1 more value of this object is a placeholder too")


def test_a_placeholder_of_a_generator_makes_a_template(tmp_path: Path) -> None:
    text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: @NODE_NAME@\n"
    (found,) = report(tmp_path, text).findings
    assert (found.rule, found.severity) == ("PL002", "warning")


@pytest.mark.parametrize(
    ("text", "others", "errors"),
    [
        ("kind: bug-fix\narea: docs\n", 1, 0),
        ("kind: ConfigMap\nmetadata: {name: x}\n", 1, 0),
        # A patch for kustomize needs no apiVersion.
        ("kind: Deployment\nspec: {template: {spec: {containers: [{name: x, env: []}]}}}\n", 1, 0),
        ("kind: Deployment\nspec: {template: {spec: {containers: [{name: x, image: 'x:1'}]}}}\n", 0, 1),
        ("kind: Pod\nspec: {containers: [{name: x, image: 'x:1'}]}\n", 0, 1),
    ],
)
def test_a_kind_without_a_version_is_an_object_only_with_an_image(
    tmp_path: Path, text: str, others: int, errors: int
) -> None:
    found = report(tmp_path, text, Settings())
    assert found.others == others
    assert sum(each.severity == "error" for each in found.findings) == errors


def test_instructions_of_a_merge_make_a_patch(tmp_path: Path) -> None:
    text = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          image: web:1
          resources: {$patch: delete}
"""
    found = report(tmp_path, text.lstrip())
    assert (found.patches, found.workloads, found.findings) == (1, 0, [])


def test_a_status_that_the_cluster_wrote_is_not_the_authors(tmp_path: Path) -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: 'web:1'}]}
status:
  conditions: [{type: Ready, status: "True", lastProbeTime: null, observedGeneration: 3}]
  newField: 1
"""
    assert report(tmp_path, text.lstrip()).findings == []


def test_a_placeholder_may_be_a_part_of_a_name(tmp_path: Path) -> None:
    text = "{apiVersion: v1, kind: Pod, metadata: {name: clean-<node-name>}, spec: {containers: [{name: a, image: a}]}}"
    assert [found.rule for found in report(tmp_path, text).findings] == ["PL002"]


PATCHED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          image: web:2
          livenessProbe: {httpGet: {path: /, port: 80}, failureThreshold: 1}
        - name: proxy
          livenessProbe: {periodSeconds: 30}
"""


@pytest.mark.parametrize(
    ("kustomization", "patch"),
    [
        ("patches: [{path: memory.yaml, target: {kind: Deployment}}]\n", "memory.yaml"),
        ("patches:\n- path: ./parts/memory.yaml\n", "parts/memory.yaml"),
        ("patchesStrategicMerge:\n- parts/memory.yaml\n- |-\n  kind: Deployment\n", "parts/memory.yaml"),
        ("kind: Component\npatches: [{path: ../memory.yaml}]\n", "../memory.yaml"),
        ("patchesJson6902: [{path: memory.yaml, target: {kind: Deployment, name: web}}]\n", "memory.yaml"),
    ],
)
def test_a_file_that_a_kustomization_names_as_a_patch_is_no_object(
    tmp_path: Path, kustomization: str, patch: str
) -> None:
    folder = tmp_path / "overlay"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text(f"apiVersion: kustomize.config.k8s.io/v1beta1\n{kustomization}")
    path = folder / patch
    path.parent.mkdir(exist_ok=True)
    path.write_text("- op: remove\n  path: /spec/replicas\n" if "Json" in kustomization else PATCHED.lstrip())
    found = lint([tmp_path])
    expected = [] if "Json" in kustomization else [("PL002", "warning")]
    if patch.startswith(".."):
        # The kustomization stands in a sibling's directory, where nobody looks for it.
        expected = [("PL004", "error")]
    assert [(each.rule, each.severity) for each in found.findings if each.rule in ("PL002", "PL004")] == expected
    assert found.workloads == (1 if patch.startswith("..") else 0)


def test_a_patch_without_a_kustomization_is_one_by_its_name(tmp_path: Path) -> None:
    (found,) = report(tmp_path, PATCHED.lstrip(), name="memory-patch.yaml").findings
    assert (found.rule, found.severity) == ("PL002", "warning")
    assert "by its name this is a patch" in found.message
    assert [each.rule for each in report(tmp_path, PATCHED.lstrip()).findings if each.severity == "error"] == ["PL004"]


def test_a_kustomization_that_nobody_can_read_names_no_patch(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("patches: [\n")
    (tmp_path / "web.yaml").write_text(PATCHED.lstrip())
    assert "PL004" in [each.rule for each in lint([tmp_path]).findings]


@pytest.mark.parametrize(
    "mark",
    [
        *("{{ port }}", "${PORT}", "$(PORT)", "$PORT", "$APP_NAME-web", "<port>", "[[ port ]]", "((port))", "#{PORT}#"),
        *("%PORT%", "@PORT@", "__PORT__", "IMAGE_PORT", "CHANGEME", "replace-me", "RELEASE-NAME-web", "%{port}"),
    ],
)
def test_a_value_that_a_later_step_fills_is_a_template(tmp_path: Path, mark: str) -> None:
    text = f"""
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  containers:
    - name: web
      image: web:1
      livenessProbe: {{httpGet: {{path: /, port: 80}}, periodSeconds: "{mark}"}}
"""
    found = report(tmp_path, text.lstrip()).findings
    assert [(each.rule, each.severity) for each in found] == [("PL002", "warning")]


def test_a_value_that_nobody_fills_is_refused(tmp_path: Path) -> None:
    text = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a_b, image: a}]}}"
    assert [found.rule for found in report(tmp_path, text).findings] == ["PL004"]


@pytest.mark.parametrize("kind", ["Config", "Status", "DeploymentConfig", "Route", "Template"])
def test_kinds_of_others_that_say_v1_are_no_mistake(tmp_path: Path, kind: str) -> None:
    found = report(tmp_path, f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert found.findings == []


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("{{ .Values.name }}", "render it first: helm template CHART | probelet lint -"),
        ('{{ include "web.name" . }}', "render it first: helm template CHART | probelet lint -"),
        ("{{ .fluxns }}", "render it first and lint what it gives"),
        ('{{ image_name("web") }}', "render it first and lint what it gives"),
    ],
)
def test_only_the_templates_of_a_chart_are_rendered_by_helm(tmp_path: Path, value: str, advice: str) -> None:
    (found,) = report(tmp_path, f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {value}\n").findings
    assert found.message == f"as it stands the template is no YAML: {advice}"
