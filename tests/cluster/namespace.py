"""One namespace of the cluster, with the objects of a test."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cluster import Cluster, condition
from tests.cluster.control_plane.api import ApiError, Object
from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.machine import until


class Namespace:
    """Made at once; its name is that of the test."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name, self._api = cluster, name, cluster.api
        self._api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        self.until(self._has_account, "the service account of the namespace")

    def _has_account(self) -> bool:
        """Whether pods can be created: the admission of ServiceAccount wants one."""
        try:
            return bool(self._api.get(f"/api/v1/namespaces/{self.name}/serviceaccounts/default"))
        except ApiError:
            return False

    def path(self, kind: str, name: str = "") -> str:
        """The path of objects of the core API, such as ``pods``, or of another, such as ``apps/v1/deployments``."""
        group, _, plural = kind.rpartition("/")
        root = f"/apis/{group}" if group else "/api/v1"
        return f"{root}/namespaces/{self.name}/{plural}" + (f"/{name}" if name else "")

    def create(self, thing: Object, kind: str = "pods") -> Object:
        metadata = {**thing["metadata"], "namespace": self.name}
        return self._api.create(self.path(kind), {**thing, "metadata": metadata})

    def pod(self, name: str) -> Object:
        return self._api.get(self.path("pods", name))

    def pods(self) -> list[Object]:
        return self._api.items(self.path("pods"))

    def events(self, name: str) -> list[Object]:
        """The events about a pod."""
        return self._api.items(self.path("events"), fieldSelector=f"involvedObject.name={name}")

    def all_events(self) -> list[Object]:
        return self._api.items(self.path("events"))

    def is_ready(self, name: str) -> bool:
        return condition(self.pod(name), "Ready") == "True"

    def until_ready(self, name: str, patience: float = PATIENCE_SECONDS) -> None:
        self.until(lambda: self.is_ready(name), f"{name} to be ready", patience)

    def until(self, true: Callable[[], Any], what: str, patience: float = PATIENCE_SECONDS) -> None:
        """Wait; a failure says how the pods look."""
        try:
            until(true, what, patience)
        except RuntimeError as error:
            seen = self.cluster.kubectl("get", "pods,events", "-n", self.name, "-o", "wide", check=False)
            raise AssertionError(f"{error}\n{seen}") from None

    def until_empty(self) -> None:
        self.until(lambda: not self.pods(), f"the pods of {self.name} to end")

    def delete(self) -> None:
        self._api.delete(f"/api/v1/namespaces/{self.name}")
