"""Probes from inside a taken-over pod (``network: pod``): which network the engine has for each sandbox."""

import json
from typing import Any

from probelet.runtime.networks.place import NODE_ROOT
from probelet.spec.annotation.probe_options import ANNOTATION
from probelet.spec.model.probe_options import ProbeOptions

from tests.unit.agent.made_pod import made_pod
from tests.unit.agent.scripted_agent import AgentNode

TCP = {"tcpSocket": {"port": 1}, "periodSeconds": 1}
INSIDE = {ANNOTATION: json.dumps({"app": {"readinessProbe": {"network": "pod"}}})}


def info(path: str) -> dict[str, str]:
    """What containerd says of a sandbox whose network is at ``path``."""
    namespaces = [{"type": "pid"}, {"type": "network", "path": path}]
    spec = {"linux": {"namespaces": namespaces}}
    return {"info": json.dumps({"pid": 0, "runtimeType": "io.containerd.runc.v2", "runtimeSpec": spec})}


def networks(node: AgentNode) -> list[Any]:
    states = json.loads(node.agent.host.engine.probe_states())
    return [state["options"]["network"] for state in states if "options" in state]


async def test_each_sandbox_of_a_pod_has_its_network(bare_node: AgentNode) -> None:
    node, runtime = bare_node, bare_node.runtime
    runtime.sandbox_info = info("/nonexistent")
    async with node.an_agent(probe_options={}):
        pod = made_pod({"app": {"readinessProbe": TCP}}, annotations=INSIDE)
        node.run(pod)
        await node.until(lambda: networks(node) and networks(node)[0]["why"] != "it is not known yet")
        (closed,) = networks(node)
        assert closed["made_from"] == "none"
        # What a process may see of the first one's files is the machine's to decide.
        assert closed["why"].startswith(
            f"/nonexistent: No such file or directory (os error 2); {NODE_ROOT}/nonexistent: "
        )
        # The namespace of this process stands for one on the node's own network, because no test needs rights for it.
        runtime.sandbox_info = info("/proc/self/ns/net")
        node.kubelet.start(pod, sandbox=node.kubelet.sandbox(pod), count=1)
        node.write_status(pod)
        await node.until(lambda: networks(node) == [{"made_from": "node", "why": "the pod is on the node's network"}])
        assert [call.pod_sandbox_id for call in runtime.called("pod_sandbox_status") if call.verbose] == [
            *runtime.sandboxes
        ]


async def test_a_pod_on_the_nodes_network_asks_the_runtime_for_nothing(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(probe_options={"readiness": ProbeOptions(network="pod")}):
        bare_node.run(made_pod({"app": {"readinessProbe": TCP}}, hostNetwork=True))
        shared = {"made_from": "node", "why": "the pod is on the node's network"}
        await bare_node.until(lambda: networks(bare_node) == [shared])
    assert not any(call.verbose for call in bare_node.runtime.called("pod_sandbox_status"))
