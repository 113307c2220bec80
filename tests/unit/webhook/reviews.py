"""Reviews as an API server sends them."""

from typing import Any

import msgspec

Json = dict[str, Any]

POD: Json = {
    "metadata": {"name": "web", "labels": {"probelet.dev/managed": "true"}},
    "spec": {"containers": [{"name": "app", "livenessProbe": {"tcpSocket": {"port": 80}}}]},
}


def review(**request: Any) -> bytes:
    """A review of a new pod; ``request`` replaces members of its request."""
    given = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "namespace": "default",
        "name": "web",
        "userInfo": {"username": "admin"},
        "object": POD,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions"},
        **request,
    }
    return msgspec.json.encode({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": given})
