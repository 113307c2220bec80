"""The endpoints of a Service."""

from tests.cluster.namespace import Namespace


def ready_endpoints(namespace: Namespace, service: str) -> set[str]:
    """The names of the pods whose endpoints are ready."""
    slices = namespace.cluster.api.items(
        namespace.path("discovery.k8s.io/v1/endpointslices"), labelSelector=f"kubernetes.io/service-name={service}"
    )
    endpoints = (endpoint for each in slices for endpoint in each.get("endpoints") or [])
    return {endpoint["targetRef"]["name"] for endpoint in endpoints if endpoint["conditions"].get("ready")}
