"""The names that enhanced liveness shares with OpenKruise, and our own."""

from typing import Final

OPT_IN: Final = "apps.kruise.io/using-enhanced-liveness"
"""Annotation of a pod: exactly ``true`` gives its liveness probes to enhanced liveness."""
CONTEXT: Final = "apps.kruise.io/container-probe-context"
"""Annotation of a pod: its liveness probes as a JSON list."""
OPTED_IN: Final = "true"

KRUISE_APPS: Final = "apps.kruise.io"
KRUISE_POLICY: Final = "policy.kruise.io"

POD_UID: Final = "crr.apps.kruise.io/pod-uid"
POD_NAME: Final = "crr.apps.kruise.io/pod-name"
NODE_NAME: Final = "crr.apps.kruise.io/node-name"
ACTIVE: Final = "crr.apps.kruise.io/active"
"""Labels of a ContainerRecreateRequest; the node's executor selects by the last two."""
SNAPSHOT: Final = "crr.apps.kruise.io/sync-container-statuses"
"""Annotation of a ContainerRecreateRequest: the statuses of its new containers, for the node's executor."""
UNREADY_ACQUIRED: Final = "crr.apps.kruise.io/unready-acquired"
"""Annotation of a ContainerRecreateRequest: when its pod was taken out of service. Also the finalizer that keeps the
request until the pod is back."""
MANAGED: Final = "elp.kruise.io/managed"
"""Label of a ContainerRecreateRequest that this controller made."""

PROBE: Final = "elp.kruise.io/probe"
FAILURE: Final = "elp.kruise.io/failure"
FAILED_SINCE: Final = "elp.kruise.io/failed-since"
DECISION: Final = "elp.kruise.io/decision"
"""Annotations of a ContainerRecreateRequest that this controller made: why it exists."""

LAST_DECISION: Final = "elp.kruise.io/last-decision"
"""Annotation of a pod: the last decision about it, if the configuration asks for it."""

CREATED_BY_US: Final = "elp.kruise.io/created-by-us"
"""Annotation of a NodePodProbe that the mapping made, and so may delete."""
EXEC_DIGESTS: Final = "elp.kruise.io/exec-digests"
"""Annotation of a NodePodProbe: a digest of each exec command as the mapping first saw it."""

RELATED_PUB: Final = ("pub.kruise.io/related-pub", "kruise.io/related-pub")
"""Annotations of a pod: the PodUnavailableBudget that covers it, today's key first."""
NO_PROTECT: Final = "pub.kruise.io/no-protect"
PUB_OPERATIONS: Final = "kruise.io/pub-protect-operations"

VIRTUAL_NODE: Final = ("type", "virtual-kubelet")
"""The label of a node without a daemon."""
READINESS_GATE: Final = "KruisePodReady"
"""The readiness gate that an unready grace period needs."""
