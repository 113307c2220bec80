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
CONTAINER_RECREATE_REQUESTS: Final = Kind(
    "apps.kruise.io", "v1alpha1", "containerrecreaterequests", "ContainerRecreateRequest"
)
POD_UNAVAILABLE_BUDGETS: Final = Kind("policy.kruise.io", "v1alpha1", "podunavailablebudgets", "PodUnavailableBudget")
DEPLOYMENTS: Final = Kind("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = Kind("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = Kind("apps", "v1", "statefulsets", "StatefulSet")
DAEMON_SETS: Final = Kind("apps", "v1", "daemonsets", "DaemonSet")
CLONE_SETS: Final = Kind("apps.kruise.io", "v1alpha1", "clonesets", "CloneSet")
ADVANCED_STATEFUL_SETS: Final = Kind("apps.kruise.io", "v1beta1", "statefulsets", "StatefulSet")
ADVANCED_DAEMON_SETS: Final = Kind("apps.kruise.io", "v1alpha1", "daemonsets", "DaemonSet")
