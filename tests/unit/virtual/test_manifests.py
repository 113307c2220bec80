"""What a VirtualNode takes for a manifest, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from probelet import HTTPGetAction, Probe
from probelet.testing import AnswerError, ManifestError, VirtualNode

LIVENESS = {"httpGet": {"port": 8080}, "failureThreshold": 1}


def pod(name: str = "web", namespace: str = "default", **container: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "app", "image": "i", "livenessProbe": LIVENESS, **container}]},
    }


def test_pods_come_from_files_folders_texts_objects_and_lists_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in (tmp_path / "a.json", tmp_path / "b.json", folder / "c.json"):
        file.write_text(json.dumps(pod(file.stem)))
    text = f"\n{json.dumps(pod('d'))}\n---\n{json.dumps(pod('e'))}\n"
    node = VirtualNode(tmp_path / "a.json", str(tmp_path / "b.json"), [folder, text], json.dumps(pod("f")), [pod("g")])
    node.run("1s")
    assert node.workers == [f"{name}/app/liveness" for name in "abcdefg"]


def test_an_object_may_hold_typed_probes() -> None:
    node = VirtualNode(pod(livenessProbe=Probe(http_get=HTTPGetAction(port=80), period_seconds=5)))
    node.run("12s")
    assert [round(attempt.at) for attempt in node.attempts] == [0, 5, 10]


def test_a_misspelt_probe_is_a_mistake_with_its_place_and_the_right_name() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - name: app\n    livenesProbe: {}\n"
    )
    with pytest.raises(ManifestError) as caught:
        VirtualNode(pod("first"), text)
    assert str(caught.value).splitlines() == [
        "manifests[1]:7: warning: spec.containers[0].livenesProbe: unknown field, ignored; did you mean livenessProbe?",
        "strict=False takes manifests with warnings",
    ]
    node = VirtualNode(text, strict=False)
    node.run("1s")
    assert node.workers == []


def test_a_mistake_of_an_object_has_no_line() -> None:
    with pytest.raises(ManifestError, match=r"^manifests\[0\]: spec\.containers\[0\]\.livenessProbe\.periodSeconds: "):
        VirtualNode(pod(livenessProbe={**LIVENESS, "periodSeconds": -1}), strict=False)


def test_manifests_without_a_pod_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"nowhere\.yaml: cannot be read: No such file"):
        VirtualNode(tmp_path / "nowhere.yaml")
    with pytest.raises(ManifestError, match="no pod in the manifests"):
        VirtualNode([])
    with pytest.raises(ManifestError, match='Duplicate value: "default/web"'):
        VirtualNode(pod(), pod())


def test_pods_of_one_name_in_two_namespaces_live_apart() -> None:
    node = VirtualNode(pod(namespace="red"), pod(namespace="blue"), pod("other", namespace="red"))
    node.answer("red/web/app/liveness", "failure 0ms: broken", "success")
    node.crash("blue/web/app")
    node.run("30s")
    assert [kill.container for kill in node.kills] == ["red/web/app"]
    assert (node.restarts("red/web/app"), node.restarts("blue/web/app"), node.restarts("other/app")) == (1, 1, 0)
    node.crash("blue/web/app")
    assert (node.ready("blue/web"), node.ready("red/web"), node.ready("other")) == (False, True, True)
    assert {attempt.worker for attempt in node.attempts} == set(node.workers) | {"blue/web/app/liveness"}
    assert {event.pod for event in node.events if event.reason == "Unhealthy"} == {"red/web"}
    assert {transition.subject for transition in node.transitions if transition.field == "ready"} >= {
        "other",
        "red/web",
    }


def test_a_name_that_two_namespaces_have_needs_its_namespace() -> None:
    node = VirtualNode(pod(namespace="red"), pod(namespace="blue"), pod("other", namespace="red"))
    with pytest.raises(AnswerError, match=r"^'web': no such pod; there are red/web, blue/web, other$"):
        node.ready("web")
    assert node.ready("red/other") == node.ready("other")


def test_a_message_lists_only_so_many_names() -> None:
    node = VirtualNode([pod(f"p{number}") for number in range(25)])
    with pytest.raises(AnswerError, match=r"p18, p19, 5 more$"):
        node.ready("nobody")
