"""The names that the webhook, the agent and people share. Objects in clusters have them, so they cannot change."""

from typing import Final

MANAGED_LABEL: Final = "probelet.dev/managed"
"""A pod asks for the takeover with this label and the value ``true`` when it is created, and never later."""

LEFT: Final = "false"
"""The value of that label with which a running pod asks its agent to leave it alone."""

PRE_STOP_IDEMPOTENT: Final = "probelet.dev/prestop-idempotent"
"""With this annotation and the value ``true`` a preStop hook that ended with its agent runs again."""

PROBES_ANNOTATION: Final = "probelet.dev/probes"
"""The probes that were taken over: a JSON object, container to probe field to probe as it was written."""

NOT_TAKEN_OVER_ANNOTATION: Final = "probelet.dev/not-taken-over"
"""Why probes of a pod that asks for the takeover stay with the kubelet."""

MADE_ANNOTATION: Final = "probelet.dev/made-probes"
"""The probes in the pod's spec that the webhook made for the kubelet: a JSON object, container to a list of fields."""

FALLBACK_ANNOTATION: Final = "probelet.dev/fallback"
"""How long a liveness probe fails before the kubelet itself restarts the container, such as ``10m``, or ``none``."""

KEEP_NATIVE_ANNOTATION: Final = "probelet.dev/keep-native"
"""The type of the probes that stay with the kubelet while the pod's other ones are taken over: ``readiness``."""

CONDITION: Final = "probelet.dev/ready"
"""The pod condition that the agent sets, and the type of the readiness gate."""

FIELD_MANAGER: Final = "probelet-agent"
"""The field manager of that condition: its writer owns the whole condition and nothing else."""

ENHANCED_LIVENESS: Final = "apps.kruise.io/using-enhanced-liveness"
"""A pod with this annotation and the value ``true`` leaves its liveness probes to enhanced liveness (OpenKruise)."""

NAMESPACE: Final = "probelet-system"
"""The namespace of probelet's own pods, unless a flag names another one."""

MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
"""A kubelet's own copy of a pod that it runs from a file (core/v1 ``MirrorPodAnnotationKey``)."""

OS_LABEL: Final = "kubernetes.io/os"
"""The label of a node with its operating system (core/v1 ``LabelOSStable``)."""
