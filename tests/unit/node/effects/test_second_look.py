"""A program that listens some time after its start is ready soon after, and not a period later."""

from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.text.duration import SECOND

from tests.unit.node.scripted_node import ROUND_TRIP_NS, ScriptedNode, make_manifest

PROBE = {"exec": {"command": ["ask"]}, "periodSeconds": 3600, "timeoutSeconds": 1}


async def test_a_program_that_does_not_listen_at_its_start_is_probed_again_a_second_later(node: ScriptedNode) -> None:
    node.runtime.exec_answers[("ask",)] = api_pb2.ExecSyncResponse(exit_code=1)
    container = {"name": "app", "image": "i", "readinessProbe": PROBE}
    began = node.service.host.engine.now()
    node.service.pods.set([make_manifest(containers=[container])])
    await node.until(lambda: node.runtime.called("exec_sync"))
    del node.runtime.exec_answers[("ask",)]
    trips = 0
    while not node.container().get("ready"):
        await node.round_trip()
        trips += 1
    assert trips * ROUND_TRIP_NS < 10_000_000_000, "an hour is the period"
    seconds = (node.service.host.engine.now() - began) // SECOND
    assert 2 <= len(node.runtime.called("exec_sync")) <= 2 + seconds, "and never more than one a second"


async def test_a_pod_that_ends_meanwhile_has_no_second_look(node: ScriptedNode) -> None:
    node.runtime.exec_answers[("ask",)] = api_pb2.ExecSyncResponse(exit_code=1)
    container = {"name": "app", "image": "i", "readinessProbe": PROBE}
    node.service.pods.set([make_manifest(containers=[container])])
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.service.pods.set([])
    await node.until(lambda: node.pod()["phase"] == "")
    asked = len(node.runtime.calls)
    for _ in range(150):
        await node.round_trip()
    called = {name for name, _ in node.runtime.calls[asked:]}
    assert called <= {"version", "list_pod_sandbox", "list_containers"}, "the pod has gone"
