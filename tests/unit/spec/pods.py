"""Pods for the tests of this folder."""

from typing import Any

import msgspec
from probelet.spec import Pod, decode_pod, set_defaults


def pod_of(spec: dict[str, Any], **metadata: Any) -> Pod:
    """A defaulted pod with this spec."""
    return set_defaults(decode_pod(msgspec.json.encode({"metadata": {"name": "web", **metadata}, "spec": spec})))


def probed(probe: dict[str, Any], probe_type: str = "liveness", **container: Any) -> Pod:
    """A defaulted pod with one container and one probe."""
    return pod_of({"containers": [{"name": "app", f"{probe_type}Probe": probe, **container}]})
