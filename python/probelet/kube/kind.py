"""The kind of an object, and where the API server serves it."""

from urllib.parse import quote

import msgspec


class Kind(msgspec.Struct, frozen=True):
    """A kind in one version of its API group, ``""`` for the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """``apiVersion`` of its objects: ``v1``, ``apps/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name by which people and RBAC know it: ``pods``, ``leases.coordination.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of an object, or without ``name`` of a collection; without ``namespace`` that of all namespaces."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [self.plural, *([name] if name else []), *([subresource] if subresource else [])]
        # A name that a person typed may hold a slash, and must not reach another resource.
        return "/" + "/".join(quote(part, safe="") for part in parts)
