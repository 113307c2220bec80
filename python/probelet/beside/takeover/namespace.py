"""The opt-in of a whole namespace: a pod of it that has probes to take over gets the label that asks for it."""

from typing import Any, Final

from probelet.beside.takeover.names import MANAGED_LABEL
from probelet.beside.takeover.patch import Operation
from probelet.beside.takeover.rules import wanted_probes
from probelet.beside.takeover.view import view

SELECTOR: Final = f"{MANAGED_LABEL}=true"
"""Finds the namespaces that ask, for a list of the API server."""

SYSTEM: Final = "kube-system"
"""Its label has no effect: what a node needs to start must not wait for an agent because somebody labelled every
namespace."""


def name_of_asking(found: dict[str, Any], own_namespace: str) -> str:
    """The name of a v1.Namespace with the label, as JSON data; empty for one whose pods the webhook never gets.
    ``own_namespace`` is probelet's."""
    name = str(found["metadata"]["name"])
    return "" if name in (SYSTEM, own_namespace) else name


def asking(pod: Any) -> tuple[Operation, ...]:
    """The change of a pod, as plain JSON data, that is being created in a namespace with the label. It is empty for a
    pod that has the label itself, whatever its value, or that has no probe to take over. The webhook that moves the
    probes comes after this change, and sees the label like a person's.

    Raises ViewError, one line, for an object that is no pod.
    """
    written = view(pod)
    labels = written.metadata.labels
    if MANAGED_LABEL in (labels or {}) or not any(wanted_probes(written, place) for place in written.places()):
        return ()
    if labels is None:
        return ({"op": "add", "path": "/metadata/labels", "value": {MANAGED_LABEL: "true"}},)
    return ({"op": "add", "path": f"/metadata/labels/{MANAGED_LABEL.replace('/', '~1')}", "value": "true"},)
