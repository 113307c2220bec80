"""Objects that the tests create."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT
from tests.support.patience import PATIENCE_SECONDS
from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json

POLICY = ROOT / "deploy" / "policy" / "policy.yaml"

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"

KRUISE = "/apis/apps.kruise.io/v1alpha1"


def until(holds: Callable[[], Any], what: str) -> Any:
    """The first result of ``holds`` that is true, within ``PATIENCE_SECONDS``."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := holds()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def pod(name: str, *, node: str | None = "node-a", **metadata: Any) -> Json:
    """A pod that nobody runs."""
    spec: Json = {"containers": [{"name": "app", "image": "registry.local/app:1"}]}
    if node is not None:
        spec["nodeName"] = node
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def pods_of(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def documents(path: Path) -> list[Json]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def allow(api: ApiServer, name: str, subject: Json, *rules: tuple[str, str, list[str]]) -> None:
    """Gives a user or service account rights in all namespaces: group, resource and verbs each."""
    given = [{"apiGroups": [group], "resources": [resource], "verbs": verbs} for group, resource, verbs in rules]
    api.admin.create(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": given})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    api.admin.create(
        f"{RBAC}/clusterrolebindings", {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
    )


def user(name: str) -> Json:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
