"""Pods for the tests of this folder."""

from typing import Any

import msgspec
from probelet.spec.model.pod import Pod


def pod_of(container: dict[str, Any] | None = None, **spec: Any) -> Pod:
    """A pod with one container."""
    meta = {"name": "web", "namespace": "default", "uid": "u1", "annotations": spec.pop("annotations", {})}
    return msgspec.convert(
        {"metadata": meta, "spec": {"containers": [{"name": "app", **(container or {})}], **spec}}, Pod
    )
