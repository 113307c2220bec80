"""Pods on a node of choice, or spread over all of them."""

from tests.cluster.control_plane.api import Object
from tests.cluster.fifteen.pods import MANAGED

HOSTNAME = "kubernetes.io/hostname"
"""The label of each node with its name."""


def on(node: str, thing: Object) -> Object:
    """The pod, which runs on this node alone, and stays its pod while the node is away."""
    thing["spec"] |= {"nodeSelector": {HOSTNAME: node}, "tolerations": [{"operator": "Exists"}]}
    return thing


def spread(thing: Object) -> Object:
    """The Deployment, with its pods evenly on the nodes that take pods."""
    template = thing["spec"]["template"]
    evenly = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor"}
    template["spec"]["topologySpreadConstraints"] = [
        {**evenly, "labelSelector": {"matchLabels": template["metadata"]["labels"]}}
    ]
    return thing


def node_of(pod: Object) -> str:
    """The node of a pod; empty before it has one."""
    return str(pod["spec"].get("nodeName", ""))


def managed(thing: Object) -> Object:
    """The pod, or the workload with its template, with the label that asks for its probes to be taken over."""
    owner = thing["spec"].get("template", thing)
    owner["metadata"]["labels"] = {**owner["metadata"]["labels"], **MANAGED}
    return thing
