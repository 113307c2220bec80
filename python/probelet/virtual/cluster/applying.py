"""Applies manifests to a cluster: names their objects, makes or changes workloads, and joins Services with them."""

from typing import Any

from msgspec.structs import replace

from probelet.policy.rules.kind import containers
from probelet.spec.read.json import encode_pod
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.controllers.endpoints import Service
from probelet.virtual.cluster.controllers.workload import Version, Workload
from probelet.virtual.cluster.objects.read import Objects, WorkloadManifest
from probelet.virtual.cluster.state import ClusterState


def apply(state: ClusterState, objects: Objects) -> None:
    """Apply objects now; workloads first, so that Services find them."""
    for budget in objects.budgets:
        state.budgets[budget.metadata.namespace or "default", budget.metadata.name] = budget
    names = _names(state, objects)
    for manifest in objects.workloads:
        _apply(state, names[manifest.kind, manifest.template.full_name], manifest)
    for service in objects.services:
        namespace = service.metadata.namespace or "default"
        name = names["Service", f"{namespace}/{service.metadata.name}"]
        found = state.endpoints.services.setdefault(name, Service(name, namespace, None))
        found.spec = service.spec
        bind(state, found)


def wanted(state: ClusterState, workload: Workload) -> int:
    """How many pods a workload should have."""
    return len(state.nodes) if workload.kind == "DaemonSet" else workload.wanted


def _names(state: ClusterState, objects: Objects) -> dict[tuple[str, str], str]:
    """How the cluster calls new objects, by kind and ``namespace/name``; known ones keep their name."""
    found: dict[tuple[str, str], str] = {}
    taken: dict[str, set[str]] = {"Service": set(state.endpoints.services), "": set(state.workloads)}
    services = [(each.metadata.namespace or "default", each.metadata.name) for each in objects.services]
    workloads = [(each.kind, each.template.metadata) for each in objects.workloads]
    listed = [("Service", namespace, name) for namespace, name in services]
    listed += [(kind, meta.namespace, meta.name) for kind, meta in workloads]
    for kind, namespace, name in listed:
        known_names = taken["Service" if kind == "Service" else ""]
        chosen = name
        if name in known_names and not _is_same(state, kind, namespace, name):
            chosen = f"{namespace}/{name}"
        if chosen in known_names and not _is_same(state, kind, namespace, chosen):
            chosen = f"{kind}/{namespace}/{name}"
        known_names.add(chosen)
        found[kind, f"{namespace}/{name}"] = chosen
    return found


def _is_same(state: ClusterState, kind: str, namespace: str, name: str) -> bool:
    """Whether the object that the cluster calls ``name`` is of this kind and namespace."""
    if kind == "Service":
        service = state.endpoints.services.get(name)
        return service is not None and service.namespace == namespace
    workload = state.workloads.get(name)
    return workload is not None and (workload.kind, workload.namespace) == (kind, namespace)


def _apply(state: ClusterState, name: str, manifest: WorkloadManifest) -> None:
    workload = state.workloads.get(name)
    if workload is None:
        version = Version(1, manifest.template, {})
        workload = Workload(manifest.kind, name, manifest.object.spec, [version])
        state.workloads[name] = workload
        for service in state.endpoints.services.values():
            bind(state, service)
    else:
        current = workload.current
        workload.spec = manifest.object.spec
        if _content(manifest) != encode_pod(replace(current.template, metadata=_meta(current.template))):
            names = {each.name for _, each in containers(manifest.template)}
            behaviours = {key: each for key, each in current.behaviours.items() if key in names}
            workload.versions.append(Version(current.number + 1, manifest.template, behaviours))
            workload.progress = ()
    for service in state.endpoints.services.values():
        if service.workload == name:
            service.wanted.append((state.now / SECOND, wanted(state, workload)))
    state.reconcile(workload)


def bind(state: ClusterState, service: Service) -> None:
    """Find the first workload whose pods a Service selects; its pods that are ready become endpoints."""
    for name, workload in state.workloads.items():
        if not service.workload and service.selects(workload.current.template, name):
            service.workload = name
    if service.workload and not service.wanted:
        service.wanted.append((state.now / SECOND, wanted(state, state.workloads[service.workload])))
    for pod in state.pods.values():
        if not pod.is_gone:
            state.endpoints.update(pod)


def _content(manifest: WorkloadManifest) -> bytes:
    return encode_pod(replace(manifest.template, metadata=_meta(manifest.template)))


def _meta(template: Any) -> Any:
    """Metadata without a UID, which hashes the whole manifest."""
    return replace(template.metadata, uid="")
