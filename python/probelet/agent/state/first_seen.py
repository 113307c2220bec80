"""Pods as first seen: the annotation and the definition that count for a UID, whatever is written later."""

from typing import Final, Literal

import msgspec

from probelet.spec.model.pod import Pod

FOLDER: Final = "pods"
"""The folder in the state directory; a file is named after the pod's UID."""


class FirstSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A pod of this node, ``probelet-pod/1``.

    ``annotation`` is None for a pod that had none: one that is added later does not count. ``pod`` has the fields that
    the agent reads (``definition``), and none for such a pod.
    """

    schema: Literal["probelet-pod/1"] = "probelet-pod/1"
    uid: str
    namespace: str
    name: str
    annotation: str | None
    pod: Pod | None
