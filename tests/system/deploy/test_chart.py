"""The Helm chart and the kustomizations render the same objects, and helm refuses values that make no sense."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.system.deploy.programs import helm, run
from tests.system.deploy.rendered import Objects, kustomized, templated
from tests.unit.deploy.manifests.manifest import BASE, CHART, COMPONENTS, NAMESPACE, OVERLAYS, documents

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

# helm makes the namespace of a release itself (--create-namespace), and refuses a chart that does.
NAMESPACE_OBJECT = ("Namespace", "", NAMESPACE)


def without_namespace(objects: Objects) -> Objects:
    assert NAMESPACE_OBJECT in objects
    return {name: one for name, one in objects.items() if name != NAMESPACE_OBJECT}


def test_without_values_the_chart_is_the_base() -> None:
    assert templated() == without_namespace(kustomized(BASE))


def test_direct_exec_is_the_overlay(tmp_path: Path) -> None:
    (configuration,) = documents(OVERLAYS / "direct-exec" / "configuration.yaml")
    (tmp_path / "config.yaml").write_text(configuration["data"]["config.yaml"])
    flags = ("--set", "agent.directExec=true", "--set-file", f"configuration={tmp_path / 'config.yaml'}")
    assert templated(*flags) == without_namespace(kustomized(OVERLAYS / "direct-exec"))


def test_cert_manager_is_the_overlay() -> None:
    assert templated("--set", "webhook.certManager=true") == without_namespace(kustomized(OVERLAYS / "cert-manager"))


def on_top(folder: Path, *components: str) -> Path:
    """A kustomization of the base with these components."""
    # kustomize takes no absolute paths.
    up = "../" * (len(folder.parts) - 1)
    base, *others = (f"{up}{path.relative_to('/')}" for path in (BASE, *(COMPONENTS / name for name in components)))
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    text = yaml.safe_dump({**kustomization, "resources": [base], "components": others})
    (folder / "kustomization.yaml").write_text(text)
    return folder


def test_monitoring_is_the_component(tmp_path: Path) -> None:
    found = kustomized(on_top(tmp_path, "monitoring"))
    assert templated("--set", "monitoring=true") == without_namespace(found)


def test_the_fallback_is_the_component(tmp_path: Path) -> None:
    found = kustomized(on_top(tmp_path, "fallback"))
    assert templated("--set", "webhook.fallback=10m") == without_namespace(found)


def test_enhanced_liveness_is_the_overlay() -> None:
    found = kustomized(OVERLAYS / "enhanced-liveness")
    assert templated("--set", "enhancedLiveness.enabled=true") == without_namespace(found)


@pytest.mark.parametrize(
    ("component", "flag"),
    [
        ("unready-without-agent", "enhancedLiveness.unreadyWithoutAgent=5m"),
        ("coexist-kruise", "enhancedLiveness.coexistKruise=true"),
    ],
)
def test_enhanced_liveness_with_a_further_component(tmp_path: Path, component: str, flag: str) -> None:
    found = kustomized(on_top(tmp_path, "enhanced-liveness", component))
    assert templated("--set", "enhancedLiveness.enabled=true", "--set", flag) == without_namespace(found)
    assert templated("--set", flag) == without_namespace(kustomized(BASE)), "alone it changes nothing"


def test_another_namespace_is_in_every_object_that_names_one() -> None:
    flags = ("monitoring", "webhook.certManager", "enhancedLiveness.enabled")
    objects = templated(*(word for flag in flags for word in ("--set", f"{flag}=true")), namespace="probes")
    assert NAMESPACE not in str(objects)
    assert {namespace for _, namespace, _ in objects} == {"", "probes"}


def test_values_reach_the_pods() -> None:
    flags = ("image.repository=registry.example/p", "image.tag=2.0", "image.pullPolicy=Always")
    more = ("image.pullSecrets[0].name=key", "agent.runtime.folder=/run/k3s/containerd", "agent.stateFolder=/srv/p")
    objects = templated(*(word for flag in (*flags, *more) for word in ("--set", flag)))
    pod = objects["DaemonSet", NAMESPACE, "probelet-agent"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("registry.example/p:2.0", "Always")
    assert pod["imagePullSecrets"] == [{"name": "key"}]
    assert "--runtime=unix:///run/k3s/containerd/containerd.sock" in container["args"]
    assert {volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume} == {
        "/run/k3s/containerd",
        "/srv/p",
    }


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("webhook.timeoutSeconds=30", "/webhook/timeoutSeconds"),
        ("webhook.replicas=0", "/webhook/replicas"),
        ("webhook.fallback=10", "/webhook/fallback"),
        ("agent.stateFolder=relative", "/agent/stateFolder"),
        ("agent.maxUnavailable=0%", "/agent/maxUnavailable"),
        ("agent.resources.limits.memory=lots", "/agent/resources/limits/memory"),
        ("image.pullPolicy=Sometimes", "/image/pullPolicy"),
        ("agents.directExec=true", "agents"),
        ("enhancedLiveness.unreadyWithoutAgent=5", "/enhancedLiveness/unreadyWithoutAgent"),
        ("enhancedLiveness.settings.enabled=true", "/enhancedLiveness/settings/enabled"),
    ],
)
def test_a_value_without_sense_is_refused_with_its_place(value: str, place: str) -> None:
    command = [str(helm()), "template", "probelet", str(CHART), "--kube-version", "1.36.3", "--set", value]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode != 0
    assert place in ended.stderr


def test_helm_finds_nothing_to_complain_of() -> None:
    assert "0 chart(s) failed" in run(helm(), "lint", "--strict", "--kube-version", "1.36.3", CHART)


def test_a_packaged_chart_is_whole(tmp_path: Path) -> None:
    run(helm(), "package", CHART, "--destination", tmp_path)
    (package,) = tmp_path.iterdir()
    flags = ("--namespace", NAMESPACE, "--kube-version", "1.36.3", "--set", "monitoring=true")
    flags += ("--set", "enhancedLiveness.enabled=true")
    rendered = [run(helm(), "template", "probelet", chart, *flags) for chart in (package, CHART)]
    assert rendered[0] == rendered[1]
