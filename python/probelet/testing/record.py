"""The history of a node in virtual time: attempts of probes, events, kills and changes of status.

Times are seconds since t = 0. A pod is named as its node names it: ``pod``, or ``namespace/pod`` where pods of two
namespaces have the same name.
"""

from typing import Literal

import msgspec


class Attempt(msgspec.Struct, frozen=True):
    """One try of a probe: when it began (``at``) and how long it took, in seconds; its probe (``worker``,
    ``pod/container/type``), and its outcome: ``success``, ``failure``, ``error`` or ``timeout``."""

    at: float
    """When it began, seconds since t = 0."""
    took: float
    """How long it took, in seconds; a timeout takes the probe's ``timeoutSeconds``."""
    worker: str
    """The probe: ``pod/container/type``."""
    outcome: Literal["success", "failure", "error", "timeout"]
    """``error``: the prober could not ask; it tries three times, then discards the run."""


class Event(msgspec.Struct, frozen=True):
    """An event of a pod, as the kubelet records it (1.36): ``at`` in seconds, ``pod``, ``reason`` (``Unhealthy``,
    ``Killing``, ``BackOff``, ``Created``, ``Started`` ...), ``message``, ``type``, and ``container``. Equal events stay
    apart; the kubelet counts them."""

    at: float
    """When, seconds since t = 0."""
    pod: str
    """The pod's name."""
    reason: str
    """The kubelet's word."""
    message: str
    """The kubelet's text."""
    type: Literal["Normal", "Warning"] = "Warning"
    """``Normal`` or ``Warning``."""
    container: str = ""
    """The container's own name; empty if the event is about the pod."""


class Kill(msgspec.Struct, frozen=True):
    """A verdict that has a container killed: ``at`` in seconds, ``container`` (``pod/container``), and the type of the
    probe."""

    at: float
    """When the probe failed for the last time; the preStop hook and the container's grace come after it."""
    container: str
    """``pod/container``."""
    probe_type: Literal["liveness", "startup"]
    """Readiness probes kill nothing."""


class Transition(msgspec.Struct, frozen=True):
    """A change of a status: ``at`` in seconds, the ``subject`` (``pod`` or ``pod/container``), the ``field``, and its
    new ``value``."""

    at: float
    """When, seconds since t = 0."""
    subject: str
    """``pod`` or ``pod/container``."""
    field: Literal["ready", "started", "state"]
    """A pod has only ``ready``, the condition Ready."""
    value: bool | str
    """Of ``state``: ``waiting``, ``running`` or ``terminated``; of the others True or False."""
