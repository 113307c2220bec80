"""The identity of a static pod: its UID stays the same from one start of probelet to the next."""

import hashlib
from pathlib import Path

from msgspec.structs import replace

from probelet.spec.annotation.probe_changes import without_probes
from probelet.spec.model.pod import Pod
from probelet.spec.read.json import encode_pod


def static_uid(pod: Pod, path: Path, node: str = "", *, is_live: bool = False) -> str:
    """The UID of a pod without one: 32 hex digits over its content, its file's absolute path and the node's name.

    Like the kubelet's (``config/common.go:applyDefaults``, 1.36) it changes with the manifest, so that a changed pod is
    a new pod, and two nodes with the same manifests have different pods. The digits differ from the kubelet's, which
    hashes Go's own rendering of the object. Without a ``node`` the pods are nowhere. ``is_live``: the probes may change
    under the UID.
    """
    content = without_probes(pod) if is_live else pod
    blank = replace(content, metadata=replace(content.metadata, uid=""))
    digest = hashlib.md5(encode_pod(blank), usedforsecurity=False)
    if node:
        digest.update(f"host:{node}".encode(errors="surrogateescape"))
    digest.update(f"file:{path.absolute()}".encode(errors="surrogateescape"))
    return digest.hexdigest()


def with_static_uid(pod: Pod, path: Path, node: str, *, is_live: bool = False) -> Pod:
    """``pod`` itself if it has a UID, else a copy with its ``static_uid``."""
    if pod.metadata.uid:
        return pod
    return replace(pod, metadata=replace(pod.metadata, uid=static_uid(pod, path, node, is_live=is_live)))
