"""The kinds that probelet reads or writes."""

from typing import Final

from probelet.kube.kind import Kind

PODS: Final = Kind("", "v1", "pods", "Pod")
NODES: Final = Kind("", "v1", "nodes", "Node", namespaced=False)
NAMESPACES: Final = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
EVENTS: Final = Kind("", "v1", "events", "Event")
SECRETS: Final = Kind("", "v1", "secrets", "Secret")
CONFIG_MAPS: Final = Kind("", "v1", "configmaps", "ConfigMap")
LEASES: Final = Kind("coordination.k8s.io", "v1", "leases", "Lease")
POD_DISRUPTION_BUDGETS: Final = Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
MUTATING_WEBHOOKS: Final = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
NODE_POD_PROBES: Final = Kind("apps.kruise.io", "v1alpha1", "nodepodprobes", "NodePodProbe", namespaced=False)
