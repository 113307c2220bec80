"""NodePodProbes of the tests' node: what a mapping asks for, and what the agent has published."""

import json
from typing import Any, Final

import msgspec
from probelet.beside.guard.names import CONTEXT
from probelet.kube.kinds import NODE_POD_PROBES, PODS
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.probe import Probe

from tests.unit.agent.made_pod import NODE
from tests.unit.agent.scripted_agent import AgentNode

EXEC: Final[dict[str, Any]] = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
FAILS: Final = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not well")


def probe(name: str = "web-app", container: str = "app", **fields: Any) -> dict[str, Any]:
    """A probe of an entry; by default a command that a test scripts, whose first failure counts."""
    return {"name": name, "containerName": container, "probe": {**EXEC, **fields} if "exec" not in fields else fields}


def handler(name: str = "web-app", container: str = "app", **fields: Any) -> dict[str, Any]:
    """A probe with exactly these fields."""
    return {"name": name, "containerName": container, "probe": fields}


def entry(pod: dict[str, Any], *probes: dict[str, Any]) -> dict[str, Any]:
    """The entry of a pod."""
    meta = pod["metadata"]
    return {
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
        "IP": "127.0.0.1",
        "probes": list(probes),
    }


def ask(node: AgentNode, *entries: dict[str, Any], annotated: bool = True) -> None:
    """The mapping writes these entries; the status stays. Their pods ask for them in their annotation, unless a test
    says otherwise."""
    for each in entries if annotated else ():
        annotate(node, each)
    found = node.api.get(NODE_POD_PROBES, NODE) or {}
    status = {"status": found["status"]} if "status" in found else {}
    node.api.put(NODE_POD_PROBES, {"metadata": {"name": NODE}, "spec": {"podProbes": list(entries)}, **status})


def annotate(node: AgentNode, entry: dict[str, Any]) -> None:
    """The pod of an entry asks for its probes, as far as the annotation can have them."""
    found = node.api.get(PODS, entry["name"], entry["namespace"])
    if found is None or found["metadata"]["uid"] != entry["uid"]:
        return
    asked = [
        {"name": each["containerName"], "livenessProbe": each["probe"]}
        for each in entry["probes"]
        if is_probe(each["probe"])
    ]
    annotations = {**found["metadata"].get("annotations", {}), CONTEXT: json.dumps(asked)}
    node.api.put(PODS, {**found, "metadata": {**found["metadata"], "annotations": annotations}})


def is_probe(given: Any) -> bool:
    try:
        msgspec.convert(given, Probe)
    except msgspec.ValidationError:
        return False
    return True


def status(node: AgentNode) -> list[dict[str, Any]]:
    """``status.podProbeStatuses``."""
    found = node.api.get(NODE_POD_PROBES, NODE) or {}
    return found.get("status", {}).get("podProbeStatuses", [])


def state(node: AgentNode, name: str = "web-app") -> dict[str, Any]:
    """The published state of a probe; empty without one."""
    states = (found for pod in status(node) for found in pod["probeStates"])
    return next((found for found in states if found["name"] == name), {})


def is_state(node: AgentNode, wanted: str, name: str = "web-app") -> bool:
    return state(node, name).get("state") == wanted


def writes(node: AgentNode) -> int:
    """How often the agent has written the status."""
    return node.api.seen("update", "nodepodprobes")


def commands(node: AgentNode, container: str = "") -> int:
    """How many commands ran, in one container or in all."""
    return sum(not container or call.container_id == container for call in node.runtime.called("exec_sync"))
