"""The mistakes of the manifests in the status document and the metrics of a node."""

from pathlib import Path

from probelet.node.source.mistakes import mistakes
from probelet.policy.node.restart_gate import RestartGate
from probelet.spec.text.problem import ObjectName, Problem

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, make_service

REFUSED = Problem("error", "Forbidden: x", Path("web.yaml"), 3, "spec.a", ObjectName("Deployment", "default", "web"))
UNREADABLE = Problem("error", "cannot be read: no", Path("d"))


async def test_a_node_shows_the_mistakes_of_its_manifests(node: ScriptedNode, tmp_path: Path) -> None:
    found = mistakes([REFUSED, UNREADABLE], [REFUSED], {"default/web": REFUSED})
    service = make_service(node.client, RestartGate(), tmp_path, mistakes=lambda: found)
    await service.start()
    service.pods.set([make_manifest(), make_manifest("other")])
    document = service.view.status().document()
    assert document["manifest_errors"][:2] == [
        {
            "path": "web.yaml",
            "line": 3,
            "kind": "Deployment",
            "namespace": "default",
            "name": "web",
            "field": "spec.a",
            "message": "Forbidden: x",
        },
        {"path": "d", "line": 0, "kind": "", "namespace": "", "name": "", "field": "", "message": "cannot be read: no"},
    ]
    assert document["manifest_errors_total"] == 3
    assert {pod["name"]: pod["manifest_error"] for pod in document["pods"]} == {
        "other": None,
        "web": "web.yaml:3: Deployment web: spec.a: Forbidden: x",
    }
    series = service.view.metrics().decode().splitlines()
    assert {
        'probelet_manifest_errors{reason="unreadable"} 1',
        'probelet_manifest_errors{reason="refused"} 1',
        'probelet_manifest_errors{reason="duplicate"} 1',
        "probelet_pods_outdated 1",
    } <= set(series)
    await service.close()
