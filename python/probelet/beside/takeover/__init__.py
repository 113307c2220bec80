"""Decides which probes of a pod probelet takes over beside a kubelet, and which stay native. Pure: objects in, objects
out.

Laws
1. One set of rules (`rules`) serves the webhook, which moves probes, and the agent, which reads what was moved.
2. The webhook first puts back what an earlier call moved, then decides, then moves. So a second call, also one after
   another webhook has injected containers, ends as one call with everything present: `patch` is idempotent, and the
   order of the webhooks does not matter.
3. A probe is moved whole or not at all. What is not moved stays as it was, and the API server judges it.
4. A probe that the webhook makes for the kubelet (``made``, ``fallback``) never acts before the agent would. It is
   named in an annotation, taken out before a decision, and made anew after it.

The webhook puts probes back before it decides
----------------------------------------------
A mutating webhook may be called again after another one has changed the pod, and its first call has moved probes by
then. To merge a second decision into the first one would need a rule for each pair of them, such as a sidecar with a
``host`` that comes after all probes were moved. So ``takeover/patch`` builds the pod as it would be without the
takeover (``with_probes``), judges that, and writes the way from the present object to the wanted one as a JSON patch.
A second call then ends as one call with everything present, and a call without news is an empty patch; tests hold
both for every pod that they play. If a probe is in the spec and in the annotation, the one in the spec is newer: an
earlier call took it away there.

Why the kubelet keeps a startup probe
-------------------------------------
A kubelet takes a container without probes of its own for ready as soon as it runs, and the gate of its pod stays open
until somebody closes it. So the endpoint of a container that was restarted would be back before its server listens, for
as long as no agent looks. With a startup probe the kubelet itself waits for the first good answer of each instance.
docs/cluster/readiness.md judges the alternatives.

The agent reads by the rules of the webhook
-------------------------------------------
The annotation may be a person's, because a user who creates a pod writes its annotations. ``takeover/reading``
applies the same rules (``takeover/rules``) to it, but by container. A container whose entry breaks a rule loses all
its entries: earlier releases moved startup probes too, and a liveness probe without its startup probe would kill a
container that starts. Other containers keep theirs, because a release with another rule must not stop the probes of a
pod that runs.
"""

from probelet.beside.takeover.codec import AnnotationError
from probelet.beside.takeover.names import (
    CONDITION,
    ENHANCED_LIVENESS,
    FALLBACK_ANNOTATION,
    KEEP_NATIVE_ANNOTATION,
    MADE_ANNOTATION,
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
    "FALLBACK_ANNOTATION",
    "KEEP_NATIVE_ANNOTATION",
    "MADE_ANNOTATION",
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
