"""Objects that the tests create."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.support.paths import ROOT
from tests.support.patience import pauses
from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Client, Json

POLICIES = sorted(path for path in (ROOT / "deploy" / "policy").glob("*.yaml") if path.name != "kustomization.yaml")

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"

KRUISE = "/apis/apps.kruise.io/v1alpha1"


def until(holds: Callable[[], Any], what: str) -> Any:
    """The first result of ``holds`` that is true, within ``PATIENCE_SECONDS``."""
    for pause in pauses():
        if found := holds():
            return found
        time.sleep(pause)
    raise AssertionError(f"waited in vain for {what}")


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


Rule: TypeAlias = tuple[str, str, list[str]] | tuple[str, str, list[str], str]
"""Group, resource, verbs, and the only name, if there is one."""


def allow(api: ApiServer, name: str, subject: Json, *rules: Rule) -> None:
    """Gives a user or service account rights in all namespaces."""
    given = [
        {"apiGroups": [group], "resources": [resource], "verbs": verbs, "resourceNames": names}
        for group, resource, verbs, *names in rules
    ]
    api.admin.create(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": given})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    api.admin.create(
        f"{RBAC}/clusterrolebindings", {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
    )


def account(api: ApiServer, namespace: str, name: str, *rules: Rule) -> None:
    """A service account with rights in all namespaces."""
    api.admin.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    allow(api, f"{namespace}-{name}", subject, *rules)


def client_of(api: ApiServer, namespace: str, name: str, *, node: str | None = None) -> Client:
    """The server as a service account: with a token that is bound to a pod of it on ``node``, or to nothing."""
    asked: Json = {}
    if node is not None:
        body = pod(f"{name}-on-{node}", node=node)
        body["spec"]["serviceAccountName"] = name
        made = api.admin.create(pods_of(namespace), body)["metadata"]
        asked["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": made["name"], "uid": made["uid"]}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    return api.admin.as_user(str(api.admin.create(path, {"spec": asked})["status"]["token"]))


def user(name: str) -> Json:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
