"""The base with enhanced liveness as a whole: names, labels, references and versions agree."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from probelet.config import load_config

from tests.support.paths import ROOT
from tests.unit.deploy.manifests.manifest import (
    BASE,
    CHART,
    COMPONENTS,
    DEPLOY,
    ENHANCED,
    NAMESPACE,
    OVERLAYS,
    Object,
    container_of,
    documents,
    files,
    kustomization,
    pod_of,
    read,
)

ALL = read(OVERLAYS / "enhanced-liveness")
WORKLOADS = ALL.kinds("DaemonSet", "Deployment")
CLUSTER_WIDE = {
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "Namespace",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}


def name(one: Object) -> str:
    return f"{one['kind']} {one['metadata']['name']}"


def test_every_file_is_listed_by_a_kustomization() -> None:
    listed = set(files(BASE))
    for folder in (*OVERLAYS.iterdir(), *COMPONENTS.iterdir()):
        listed |= set(files(folder))
        listed |= {folder / patch["path"] for patch in kustomization(folder).get("patches", []) if "path" in patch}
    found = {path for folder in ("crds", "kustomize", "policy") for path in (DEPLOY / folder).rglob("*.yaml")}
    assert {path for path in found - listed if path.name != "kustomization.yaml"} == set()


def test_a_patch_is_a_file_of_its_own() -> None:
    """kustomize 5.5, which kubectl 1.32 has, ends with a panic at a file that deletes two objects."""
    for folder in (*OVERLAYS.iterdir(), *COMPONENTS.iterdir()):
        for patch in kustomization(folder).get("patches", []):
            assert "path" not in patch or len(documents(folder / patch["path"])) == 1, (folder.name, patch)


def test_every_object_is_in_the_namespace_of_probelet_and_labelled() -> None:
    for one in ALL:
        meta = one["metadata"]
        assert meta.get("namespace") == (None if one["kind"] in CLUSTER_WIDE else NAMESPACE), name(one)
        assert meta["labels"]["app.kubernetes.io/name"] == "probelet", name(one)
    assert len({name(one) for one in ALL}) == len(list(ALL))


def test_the_version_of_the_image_is_that_of_the_workspace() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for folder in (BASE, ENHANCED):
        assert kustomization(folder)["images"] == [{"name": "localhost/probelet", "newTag": version}]
    (chart,) = documents(CHART / "Chart.yaml")
    assert (chart["version"], chart["appVersion"]) == (version, version)
    assert {container_of(workload)["image"] for workload in WORKLOADS} == {"localhost/probelet"}


def test_selectors_find_the_pods_of_their_workload() -> None:
    labels = {name(workload): workload["spec"]["template"]["metadata"]["labels"] for workload in WORKLOADS}
    for workload in WORKLOADS:
        assert workload["spec"]["selector"]["matchLabels"] == labels[name(workload)]
    for one in ALL.kinds("Service", "PodDisruptionBudget", "NetworkPolicy"):
        spec = one["spec"]
        selector = spec.get("podSelector", spec.get("selector"))
        selector = selector.get("matchLabels", selector)
        assert selector == labels[f"Deployment {one['metadata']['name']}"], name(one)


def test_every_account_that_a_pod_or_a_binding_names_is_there() -> None:
    accounts = {one["metadata"]["name"] for one in ALL.kinds("ServiceAccount")}
    assert {pod_of(workload)["serviceAccountName"] for workload in WORKLOADS} == accounts
    for binding in ALL.kinds("RoleBinding", "ClusterRoleBinding"):
        (subject,) = binding["subjects"]
        assert (subject["kind"], subject["namespace"]) == ("ServiceAccount", NAMESPACE)
        assert subject["name"] in accounts
        assert binding["metadata"]["name"].startswith(subject["name"])
        assert ALL.one(binding["roleRef"]["kind"], binding["roleRef"]["name"])
    assert all(one["automountServiceAccountToken"] is False for one in ALL.kinds("ServiceAccount"))


def test_no_pod_writes_to_its_root_or_gains_a_right() -> None:
    for workload in WORKLOADS:
        pod, container = pod_of(workload), container_of(workload)
        context = {**pod.get("securityContext", {}), **container["securityContext"]}
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert context.get("runAsNonRoot", False) is (name(workload) != "DaemonSet probelet-agent")


def test_every_pod_has_requests_a_limit_of_memory_and_none_of_cpu() -> None:
    for workload in WORKLOADS:
        resources = container_of(workload)["resources"]
        assert resources["requests"].keys() == {"cpu", "memory"}
        assert resources["limits"].keys() == {"memory"}


@pytest.mark.parametrize(
    "folder", [BASE, ENHANCED / "controller", OVERLAYS / "cert-manager"], ids=lambda folder: folder.name
)
def test_the_command_line_takes_the_arguments(folder: Path) -> None:
    here = [one for file in folder.rglob("*.yaml") for one in documents(file)]
    commands = [container_of(one)["args"] for one in here if one.get("kind") in ("DaemonSet", "Deployment")]
    assert commands
    for verb, *arguments in commands:
        words = [word.replace("$(POD_NAMESPACE)", NAMESPACE) for word in arguments]
        app = import_module(f"probelet.cli.cluster.{verb}").app
        app.parse_args(words, exit_on_error=False, print_error=False)


def test_every_pod_is_probed_by_the_kubelet_itself() -> None:
    for workload in WORKLOADS:
        assert "probelet.dev/managed" not in workload["spec"]["template"]["metadata"]["labels"]
        container = container_of(workload)
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("folder", [BASE, OVERLAYS / "direct-exec"])
def test_the_configuration_has_no_mistake_and_keeps_state_over_a_restart(folder: Path, tmp_path: Path) -> None:
    (file,) = [path for path in folder.iterdir() if path.name == "configuration.yaml"]
    (configuration,) = documents(file)
    (tmp_path / "config.yaml").write_text(configuration["data"]["config.yaml"])
    assert load_config(tmp_path / "config.yaml").probelet.restore == "full"


def test_an_overlay_changes_nothing_of_the_configuration_but_what_it_is_for() -> None:
    (base,) = documents(BASE / "configuration.yaml")
    (direct,) = documents(OVERLAYS / "direct-exec" / "configuration.yaml")
    text, more = (one["data"]["config.yaml"] for one in (base, direct))
    assert more.startswith(text)
    assert re.sub(r"^#.*\n", "", more.removeprefix(text), flags=re.MULTILINE) == "execMode: direct\n"
    (values,) = documents(CHART / "values.yaml")
    assert values["configuration"] == text
