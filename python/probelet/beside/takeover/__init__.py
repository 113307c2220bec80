"""Decides which probes of a pod probelet takes over beside a kubelet, and which stay native. Pure: objects in, objects
out.

Laws
1. One set of rules (`rules`) serves the webhook, which moves probes, and the agent, which reads what was moved.
2. The webhook first puts back what an earlier call moved, then decides, then moves. So a second call, also one after
   another webhook has injected containers, ends as one call with everything present: `patch` is idempotent, and the
   order of the webhooks does not matter.
3. A probe is moved whole or not at all. What is not moved stays as it was, and the API server judges it.
"""

from probelet.beside.takeover.codec import AnnotationError
from probelet.beside.takeover.names import (
    CONDITION,
    ENHANCED_LIVENESS,
    MANAGED_LABEL,
    NAMESPACE,
    NOT_TAKEN_OVER_ANNOTATION,
    PROBES_ANNOTATION,
)
from probelet.beside.takeover.patch import Patch, patch
from probelet.beside.takeover.reading import Reading, read
from probelet.beside.takeover.view import PodView, view

__all__ = [
    "CONDITION",
    "ENHANCED_LIVENESS",
    "MANAGED_LABEL",
    "NAMESPACE",
    "NOT_TAKEN_OVER_ANNOTATION",
    "PROBES_ANNOTATION",
    "AnnotationError",
    "Patch",
    "PodView",
    "Reading",
    "patch",
    "read",
    "view",
]
