"""The downward API in environment variables: the ``valueFrom`` sources that a node can read without an API server.

Kubelet pkg/kubelet/kubelet_pods.go:podFieldSelectorRuntimeValue, 1.36. ``EnvVar`` holds ``valueFrom`` unread.
"""

import re
from typing import Any, Final

FIELDS: Final = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "status.podIP", "status.podIPs"}
)
ENTRY: Final = re.compile(r"metadata\.(?P<map>labels|annotations)\['(?P<key>[^']+)'\]")


def readable_field(value_from: Any) -> str | None:
    """The field path of a ``fieldRef`` that a node can read; None for every other source."""
    reference = value_from.get("fieldRef") if isinstance(value_from, dict) else None
    path = reference.get("fieldPath") if isinstance(reference, dict) else None
    if not isinstance(path, str):
        return None
    return path if path in FIELDS or ENTRY.fullmatch(path) else None
