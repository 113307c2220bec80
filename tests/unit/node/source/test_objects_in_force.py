"""ConfigMaps and Secrets follow their files as pods do, and containers get what is in force when they start."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.node.source.file_calls import FileCalls
from probelet.node.source.files import SETTLE_NS, ManifestFiles
from probelet.node.source.watch import Manifests
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.objects.config_object import ObjectStore

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime

PASSWORD = "hunter2-of-nobody"
GATES = dict.fromkeys(
    (
        "ContainerRestartRules",
        "RestartAllContainersOnContainerExits",
        "ProbeTerminationGracePeriod",
        "H2CContainerProbe",
        "GRPCContainerProbeTLS",
    ),
    True,
)


def text_of(*objects: dict[str, Any]) -> str:
    return yaml.safe_dump_all([{"apiVersion": "v1", **found} for found in objects])


def secret(name: str, **values: Any) -> dict[str, Any]:
    return {"kind": "Secret", "metadata": {"name": name}, "stringData": values}


def test_objects_come_change_and_go_with_their_files(tmp_path: Path) -> None:
    path, other, store = tmp_path / "a.yaml", tmp_path / "b.yaml", ObjectStore()
    path.write_text(text_of(secret("one", K="1"), secret("two", K="2")))
    files = ManifestFiles([tmp_path], GATES, FileCalls(), runtime="process", objects=store)
    now = 0

    def held() -> dict[str, str]:
        return {name: found.data["K"].decode() for (_, _, name), found in store.objects.items()}

    def look() -> list[str]:
        nonlocal now
        files.scan(now)
        now += SETTLE_NS
        return [str(problem) for problem in files.scan(now).problems]

    assert files.first().problems == []
    assert held() == {"one": "1", "two": "2"}
    path.write_text(text_of(secret("one", K="new"), secret("two", K=2)))
    assert len(look()) == 1
    assert held() == {"one": "new", "two": "2"}, "a mistake takes no object away"
    path.write_text("")
    look()
    assert held() == {"one": "new", "two": "2"}, "nor does a file that is empty for a moment"
    other.write_text(text_of(secret("one", K="of b"), secret("three", K="3")))
    [double] = look()
    assert 'Duplicate value: "default/one": Secret already defined at' in double
    assert held() == {"one": "new", "two": "2", "three": "3"}
    path.unlink()
    look()
    assert held() == {"one": "of b", "three": "3"}


CONTAINER = {
    "name": "app",
    "image": "i",
    "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "TOKEN"}}}],
    "readinessProbe": {"exec": {"command": ["check", "$(TOKEN)"]}},
}


async def test_a_container_waits_for_its_secret_and_starts_with_it(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text_of(secret("keys", OTHER=PASSWORD)))
    manifests = Manifests([path], GATES, runtime="cri")
    node.service._options.objects.objects = manifests.objects.objects
    node.service.pods.set([make_manifest(containers=[CONTAINER])])
    await node.until(lambda: node.container().get("reason") == "CreateContainerConfigError")
    assert node.container()["message"] == 'secret "keys" not found'
    assert manifests.first(idle=True) == []
    node.service._options.objects.objects = manifests.objects.objects
    # A failed sync is tried again ten seconds later.
    await node.round_trip(10_000_000_000)
    missing = "couldn't find key TOKEN in Secret default/keys"
    await node.until(lambda: node.container()["message"] == missing)
    assert node.messages("Failed")[-1] == f"Error: {missing}"
    path.write_text(text_of(secret("keys", TOKEN=PASSWORD)))
    manifests.first(idle=True)
    node.service._options.objects.objects = manifests.objects.objects
    runtime.exec_answers["check", ""] = api_pb2.ExecSyncResponse()
    await node.round_trip(10_000_000_000)
    await node.until(lambda: node.pod().get("ready"))
    [config] = [call.config for call in runtime.called("create_container")]
    assert {env.key: env.value for env in config.envs} == {"TOKEN": PASSWORD.encode()}
    assert shown(node, caplog).count(PASSWORD) == 0


def shown(node: ScriptedNode, caplog: pytest.LogCaptureFixture) -> str:
    """All that a person or a program can read of the node."""
    view = node.service.view
    pages = (view.metrics(), view.metrics_pods(), view.metrics_probes())
    return "\n".join(
        [
            str(view.status().document()),
            str(view.events(0)),
            str(view.configz()),
            *(page.decode() for page in pages),
            *(record.getMessage() for record in caplog.records),
        ]
    )
