"""Workloads with a pod template, and the objects beside them that have no pods."""

import json
from pathlib import Path

import pytest
from probelet.spec import Loaded, load
from probelet.spec.read.objects import KINDS_MAX, REPLICAS_MAX

# What each kind's manifest has around its pod template, and the paths of the template and of the number of pods.
KINDS = {
    "Deployment": ("apps/v1", "spec.template", "spec.replicas"),
    "StatefulSet": ("apps/v1", "spec.template", "spec.replicas"),
    "ReplicaSet": ("apps/v1", "spec.template", "spec.replicas"),
    "ReplicationController": ("v1", "spec.template", "spec.replicas"),
    "DaemonSet": ("apps/v1", "spec.template", ""),
    "Job": ("batch/v1", "spec.template", "spec.parallelism"),
    "CronJob": ("batch/v1", "spec.jobTemplate.spec.template", "spec.jobTemplate.spec.parallelism"),
}
ENDS = ("Job", "CronJob")


def put(object_: dict[str, object], path: str, value: object) -> None:
    *parents, last = path.split(".")
    for name in parents:
        object_ = object_.setdefault(name, {})  # type: ignore[assignment]
    object_[last] = value


def workload(kind: str, name: str = "web", **fields: object) -> dict[str, object]:
    """A workload as JSON; ``fields`` have ``__`` for each point of their path."""
    version, template, _ = KINDS[kind]
    object_: dict[str, object] = {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
    policy = {"restartPolicy": "Never"} if kind in ENDS else {}
    put(
        object_, template, {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app"}], **policy}}
    )
    for path, value in fields.items():
        put(object_, path.replace("__", "."), value)
    return object_


def loaded(tmp_path: Path, *objects: object, replicas: bool = False) -> Loaded:
    path = tmp_path / "f.yaml"
    path.write_text("\n---\n".join(each if isinstance(each, str) else json.dumps(each, indent=1) for each in objects))
    return load([path], replicas=replicas)


def lines(found: Loaded) -> list[str]:
    """The problems without the directory."""
    return [str(problem).rpartition("/f.yaml:")[2] for problem in found.problems]


def names(found: Loaded) -> list[str]:
    return [manifest.pod.full_name for manifest in found.pods]


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_is_one_pod_named_after_its_workload(kind: str, tmp_path: Path) -> None:
    found = loaded(tmp_path, workload(kind, metadata__namespace="shop"))
    assert lines(found) == []
    (manifest,) = found.pods
    assert manifest.pod.full_name == "shop/web"
    assert manifest.pod.metadata.labels == {"app": "web"}
    assert manifest.pod.spec.restart_policy == ("Never" if kind in ENDS else "Always")
    assert (manifest.line, str(manifest.object)) == (1, f"{kind} web")


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistake_in_a_template_has_its_path_in_the_workload(kind: str, tmp_path: Path) -> None:
    _, template, _ = KINDS[kind]
    container = {"name": "App", "livenesProbe": {}}
    fields: dict[str, object] = {f"{template}.spec.containers": [container], "metadata.namespace": "A"}
    found = loaded(tmp_path, workload(kind, **fields))
    assert found.pods == []
    text = (tmp_path / "f.yaml").read_text().splitlines()
    for problem, field, shown in zip(
        found.problems,
        ("metadata.namespace", f"{template}.spec.containers[0].name", f"{template}.spec.containers[0].livenesProbe"),
        ('"A"', '"App"', "livenesProbe"),
        strict=True,
    ):
        assert (problem.field, problem.owner) == (field, f"{kind} web")
        assert shown in text[problem.line - 1]


def test_the_namespace_of_a_template_counts_if_its_workload_has_none(tmp_path: Path) -> None:
    fields = {"spec.template.metadata": {"namespace": "inner", "name": "ignored", "uid": "ignored"}}
    assert names(loaded(tmp_path, workload("Deployment", **fields))) == ["inner/web"]
    assert names(loaded(tmp_path, workload("Deployment", **fields, metadata__namespace="outer"))) == ["outer/web"]


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        (
            "Deployment",
            {"spec.template.spec.restartPolicy": "Never"},
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
        (
            "Deployment",
            {"spec.template.spec.restartPolicy": "Sometimes"},
            'spec.template.spec.restartPolicy: Unsupported value: "Sometimes": '
            'supported values: "Always", "OnFailure", "Never"',
        ),
        (
            "Deployment",
            {"spec.template.spec.activeDeadlineSeconds": 5},
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
        ),
        (
            "StatefulSet",
            {"spec.template.spec.activeDeadlineSeconds": 5},
            "spec.template.spec.activeDeadlineSeconds: Forbidden: "
            "activeDeadlineSeconds in StatefulSet is not Supported",
        ),
        (
            "Job",
            {"spec.template.spec.restartPolicy": "Always"},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            "CronJob",
            {"spec.jobTemplate.spec.template.spec": {"containers": [{"name": "app"}]}},
            'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            "Job",
            {"spec.podFailurePolicy": {"rules": []}, "spec.template.spec.restartPolicy": "OnFailure"},
            'spec.template.spec.restartPolicy: Invalid value: "OnFailure": '
            'only "Never" is supported when podFailurePolicy is specified',
        ),
        ("Deployment", {"spec.template": None}, "spec.template.spec.containers: Required value"),
        (
            "Deployment",
            {"spec.replicas": -1},
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "Deployment",
            {"spec.replicas": "3"},
            'spec.replicas: Invalid value: "3": must be an integer, not a string; write 3 without quotes',
        ),
        (
            "Deployment",
            {"metadata": {}},
            "metadata.name: Required value: name or generateName is required",
        ),
    ],
)
def test_the_api_servers_rules_for_a_template(
    kind: str, fields: dict[str, object], expected: str, tmp_path: Path
) -> None:
    found = loaded(tmp_path, workload(kind, **fields))
    owner = kind if "metadata" in fields else f"{kind} web"
    assert [line.partition(": ")[2] for line in lines(found)] == [f"{owner}: {expected}"]
    assert found.pods == []


def test_a_misspelt_field_of_a_workload_is_a_warning(tmp_path: Path) -> None:
    found = loaded(tmp_path, workload("Deployment", spec__replcas=3))
    assert [line.partition(": ")[2] for line in lines(found)] == [
        "warning: Deployment web: spec.replcas: unknown field, ignored; did you mean replicas?"
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("Deployment", {}, ["web-0"]),
        ("Deployment", {"spec.replicas": 3}, ["web-0", "web-1", "web-2"]),
        ("StatefulSet", {"spec.replicas": 2, "spec.ordinals": {"start": 5}}, ["web-5", "web-6"]),
        ("DaemonSet", {}, ["web-0"]),
        ("Job", {"spec.completions": 5}, ["web-0"]),
        ("Job", {"spec.completions": 5, "spec.parallelism": 2, "spec.completionMode": "Indexed"}, ["web-0", "web-1"]),
        ("Job", {"spec.completions": 1, "spec.parallelism": 4}, ["web-0"]),
        ("CronJob", {"spec.jobTemplate.spec.parallelism": 2}, ["web-0", "web-1"]),
    ],
)
def test_with_replicas_a_workload_has_the_pods_that_it_asks_for(
    kind: str, fields: dict[str, object], expected: list[str], tmp_path: Path
) -> None:
    found = loaded(tmp_path, workload(kind, **fields), replicas=True)
    assert (lines(found), [name.partition("/")[2] for name in names(found)]) == ([], expected)
    assert len({manifest.pod.metadata.uid for manifest in found.pods}) == len(expected)
    assert [name.partition("/")[2] for name in names(loaded(tmp_path, workload(kind, **fields)))] == ["web"]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *((kind, count, 0) for kind, (_, _, count) in KINDS.items() if count),
        ("Job", "spec.suspend", True),
        ("CronJob", "spec.suspend", True),
        ("CronJob", "spec.jobTemplate.spec.suspend", True),
    ],
)
def test_with_replicas_a_workload_may_ask_for_no_pod(kind: str, field: str, value: object, tmp_path: Path) -> None:
    found = loaded(tmp_path, workload(kind, **{field: value}), replicas=True)
    assert [line.partition(": ")[2] for line in lines(found)] == [f"warning: {kind} web: {field}: asks for no pod"]
    assert (found.pods, [str(name) for name in found.objects]) == ([], [f"{kind} web"])


def test_the_pods_that_replicas_makes_are_bounded_for_the_file(tmp_path: Path) -> None:
    most = workload("Deployment", "most", spec__replicas=REPLICAS_MAX - 1)
    agent = workload("DaemonSet", "agent")
    found = loaded(
        tmp_path, most, workload("Deployment", spec__replicas=2), agent, workload("DaemonSet", "last"), replicas=True
    )
    # A node has one pod of a DaemonSet, however many pods other workloads ask for.
    assert len(found.pods) == REPLICAS_MAX + 1
    assert [line.partition(": ")[2] for line in lines(found)] == [
        f"Deployment web: spec.replicas: Too many: 2: --replicas makes at most {REPLICAS_MAX} pods of a file"
    ]


def test_two_objects_with_pods_of_one_name_are_one_mistake(tmp_path: Path) -> None:
    objects = (workload("StatefulSet", spec__replicas=2), workload("Deployment", spec__replicas=3))
    found = loaded(tmp_path, *objects)
    line = next(
        number
        for number, text in enumerate((tmp_path / "f.yaml").read_text().splitlines(), 1)
        if number > 1 and text == "{"
    )
    place = f"{tmp_path}/f.yaml"
    assert [str(problem) for problem in found.problems] == [
        f'{place}:{line}: Deployment web: metadata.name: Duplicate value: "default/web": '
        f"already defined at {place}:1 (StatefulSet web)"
    ]
    assert [str(manifest.object) for manifest in found.pods] == ["StatefulSet web"]
    assert len(loaded(tmp_path, *objects, replicas=True).errors) == 1


SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}"
CERTIFICATE = "apiVersion: cert-manager.io/v1\nkind: Certificate"


def test_kinds_without_pods_are_counted_and_passed_over(tmp_path: Path) -> None:
    found = loaded(tmp_path, SERVICE, workload("Deployment"), CERTIFICATE, SERVICE.replace("web", "db"))
    assert (lines(found), names(found)) == ([], ["default/web"])
    assert found.passed_over == {"Service": 2, "Certificate.cert-manager.io": 1}
    # A file per object is as usual; such a file is no mistake.
    assert loaded(tmp_path, SERVICE).problems == []
    # A resource of another group may have any kind.
    assert loaded(tmp_path, "apiVersion: apps.example/v1\nkind: Deployment").passed_over == {
        "Deployment.apps.example": 1
    }


def test_kinds_without_pods_are_counted_by_name_up_to_a_bound(tmp_path: Path) -> None:
    kinds = [f"apiVersion: example/v1\nkind: K{number}" for number in range(KINDS_MAX + 3)]
    found = loaded(tmp_path, *kinds)
    assert (len(found.passed_over), found.passed_over["other kinds"]) == (KINDS_MAX + 1, 3)


def test_lists_of_workloads(tmp_path: Path) -> None:
    bare = workload("Deployment", "b")
    del bare["apiVersion"], bare["kind"]
    found = loaded(
        tmp_path,
        {"apiVersion": "v1", "kind": "List", "items": [workload("Deployment", "a"), workload("Job", "j")]},
        {"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [bare]},
        {"apiVersion": "v1", "kind": "ServiceList", "items": [{}, {}]},
        {"apiVersion": "v1", "kind": "PodList", "items": []},
    )
    assert (lines(found), names(found)) == ([], ["default/a", "default/j", "default/b"])
    assert found.passed_over == {"Service": 2}
    wrong = workload("Deployment", **{"spec.template.spec.containers": [{"name": "App"}]})
    (problem,) = loaded(tmp_path, {"apiVersion": "v1", "kind": "List", "items": [wrong]}).problems
    assert problem.field == "items[0].spec.template.spec.containers[0].name"


KYAML = """\
---
{
  apiVersion: "apps/v1",
  kind: "Deployment",  # a comment
  metadata: {
    name: "web",
  },
  spec: {
    template: {
      spec: {
        containers: [{
          name: "App",
        }],
      },
    },
  },
}
"""


@pytest.mark.parametrize(
    "text",
    [KYAML, KYAML.rstrip("\n"), KYAML.replace("\n", "\r\n"), f"\ufeff{KYAML}"],
    ids=["lf", "no end", "crlf", "bom"],
)
def test_lines_of_a_mistake_in_flow_style(text: str, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(text.encode())
    (problem,) = load([path]).problems
    assert (problem.line, problem.field) == (11 + 1, "spec.template.spec.containers[0].name")
    path.write_bytes(text.replace("App", "app").encode())
    assert names(load([path])) == ["default/web"]
