"""Requests at the API server of a scripted bare_node, and the manager that completes what the node does not."""

import json
from typing import Any

from probelet.beside.guard.names import ACTIVE, NODE_NAME, POD_UID, SNAPSHOT
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS as KIND
from probelet.kube.kinds import PODS

from tests.unit.agent.made_pod import NODE, made_pod
from tests.unit.agent.scripted_agent import AgentNode

Json = dict[str, Any]
HOOK: Json = {"lifecycle": {"preStop": {"exec": {"command": ["hook"]}}}}


def plain_pod(*containers: str, name: str = "web", hooks: bool = False, **spec: Any) -> Json:
    """A pod that is not taken over: the kubelet has all its probes."""
    listed = [{"name": each, "image": "i", **(HOOK if hooks else {})} for each in containers or ("app",)]
    return made_pod(name=name, containers=listed, **spec)


def context(id: str, count: int = 0) -> Json:
    return {"containerID": f"scripted://{id}", "restartCount": count}


def request(
    bare_node: AgentNode,
    pod: Json,
    ids: dict[str, str],
    *,
    name: str = "again",
    labels: Json | None = None,
    **spec: Any,
) -> Json:
    """Creates a request for containers, as the admission leaves it; ``ids`` are the bare IDs of their instances."""
    meta = pod["metadata"]
    given = {ACTIVE: "true", NODE_NAME: NODE, POD_UID: meta["uid"], **(labels or {})}
    strategy = {"failurePolicy": "Fail", "terminationGracePeriodSeconds": 30, **spec.pop("strategy", {})}
    containers = [{"name": each, "statusContext": context(id)} for each, id in ids.items()]
    body = {
        "metadata": {"name": name, "namespace": meta["namespace"], "labels": given},
        "spec": {"podName": meta["name"], "containers": containers, "strategy": strategy, **spec},
    }
    return bare_node.api.put(KIND, body)


def status(bare_node: AgentNode, name: str = "again") -> Json:
    """The status of a request; empty for one that is gone."""
    found: Json = (bare_node.api.get(KIND, name, "default") or {}).get("status") or {}
    return found


def phase(bare_node: AgentNode, name: str = "again") -> str:
    return str(status(bare_node, name).get("phase", ""))


def states(bare_node: AgentNode, name: str = "again") -> Json:
    """The states of the containers by name, without the name."""
    rows = status(bare_node, name).get("containerRecreateStates", [])
    return {row["name"]: {key: value for key, value in row.items() if key != "name"} for row in rows}


def observe(bare_node: AgentNode, pod: Json, *containers: str, name: str = "again", ready: bool = True) -> None:
    """The manager writes the kubelet's statuses of new containers into the request."""
    meta = pod["metadata"]
    found, seen = bare_node.api.get(KIND, name, "default"), bare_node.api.get(PODS, meta["name"], meta["namespace"])
    assert found is not None
    assert seen is not None
    rows = [
        {"name": row["name"], "ready": ready, "restartCount": row["restartCount"], "containerID": row["containerID"]}
        for row in seen["status"]["containerStatuses"]
        if row["name"] in containers
    ]
    annotations = {**found["metadata"].get("annotations", {}), SNAPSHOT: json.dumps(rows)}
    bare_node.api.put(KIND, {**found, "metadata": {**found["metadata"], "annotations": annotations}})


def patch_status(bare_node: AgentNode, name: str = "again", **fields: Any) -> None:
    found = bare_node.api.get(KIND, name, "default")
    assert found is not None
    bare_node.api.put(KIND, {**found, "status": {**found.get("status", {}), **fields}})


def release(bare_node: AgentNode, name: str = "again") -> None:
    """The manager removes the label of a request that is over."""
    found = bare_node.api.get(KIND, name, "default")
    assert found is not None
    labels = {key: value for key, value in found["metadata"]["labels"].items() if key != ACTIVE}
    bare_node.api.put(KIND, {**found, "metadata": {**found["metadata"], "labels": labels}})


def hooks(bare_node: AgentNode) -> int:
    return sum(list(call.cmd) == ["hook"] for call in bare_node.runtime.called("exec_sync"))
