"""What a request is about: its path and method as kind, namespace, name and verb."""

from dataclasses import dataclass

from probelet.kube import kinds
from probelet.kube.kind import Kind

from tests.support.kube_api.refusal import RefusalError

KINDS = {found.path(): found for found in vars(kinds).values() if isinstance(found, Kind)}
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True)
class Target:
    kind: Kind
    namespace: str
    name: str
    subresource: str


def target(path: str) -> Target:
    """The target of a path as it came, without unquoting slashes of names."""
    parts = path.strip("/").split("/")
    base, rest = (parts[:2], parts[2:]) if parts[0] == "api" else (parts[:3], parts[3:])
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    kind = KINDS.get("/" + "/".join([*base, *rest[:1]]))
    if kind is None or len(rest) > 3 or bool(namespace) > kind.namespaced:
        raise RefusalError(404, "the server could not find the requested resource")
    name, subresource = (*rest[1:], "", "")[:2]
    return Target(kind, namespace, name, subresource)


def verb(method: str, found: Target, *, watches: bool, applies: bool) -> str:
    """As RBAC has it, and ``apply``."""
    if method == "GET":
        return "get" if found.name else "watch" if watches else "list"
    return "apply" if applies else _VERBS[method]
