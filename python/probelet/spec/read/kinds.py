"""The kinds of objects with pods: a Pod, and the workloads with a pod template."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.pod import Pod
from probelet.spec.model.workload import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    JobSpec,
    PodTemplateSpec,
    ReplicationController,
    StatefulSet,
)
from probelet.spec.rules.template import runs_for_ever, runs_to_its_end
from probelet.spec.text.problem import FieldError, go_value, shorten


class Asked(NamedTuple):
    """How many pods an object asks for."""

    pods: int = 1
    field: str = ""
    """The path of the field that says so; empty if no field does."""
    first: int = 0
    """The number in the first pod's name."""


class Kind(NamedTuple):
    """How the pods of one kind are read. The functions take the decoded object."""

    version: str
    """The apiVersion."""
    cls: type[Object]
    template: str
    """The path of the pod template; empty for a Pod."""
    pod: Callable[[Any], Pod]
    """Its pod, with the object's name."""
    rules: Callable[[Any, Pod], list[FieldError]]
    """The mistakes of the pod beyond the rules of every pod; it has its defaults. The paths are the pod's."""
    asked: Callable[[Any], Asked]


def _pod_of(metadata: ObjectMeta, template: PodTemplateSpec) -> Pod:
    """The pod of a template (``GetPodFromTemplate``, pkg/controller/controller_utils.go, 1.36).

    A controller gives a random name; here it is the object's, so that a pod is the same one at each start.
    """
    inside = template.metadata
    meta = ObjectMeta(
        name=metadata.name,
        generate_name=metadata.generate_name,
        namespace=metadata.namespace or inside.namespace,
        labels=inside.labels,
        annotations=inside.annotations,
        finalizers=inside.finalizers,
    )
    return Pod(api_version="v1", kind="Pod", metadata=meta, spec=template.spec)


def _replicas(found: Any) -> Asked:
    wanted = found.spec.replicas
    return Asked(1 if wanted is None else wanted, "spec.replicas")


def _numbered(found: StatefulSet) -> Asked:
    return _replicas(found)._replace(first=found.spec.ordinals.start)


def _at_once(spec: JobSpec, prefix: str) -> Asked:
    """The pods that a Job's controller makes first: ``parallelism``, and not more than have to succeed."""
    if spec.suspend:
        return Asked(0, f"{prefix}.suspend")
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is not None and spec.completions < parallelism:
        return Asked(spec.completions, f"{prefix}.completions")
    return Asked(parallelism, f"{prefix}.parallelism")


def _scheduled(found: CronJob) -> Asked:
    if found.spec.suspend:
        return Asked(0, "spec.suspend")
    return _at_once(found.spec.job_template.spec, "spec.jobTemplate.spec")


def _endless(version: str, cls: type[Object], asked: Callable[[Any], Asked], named: str) -> Kind:
    """A workload that keeps its pods running; ``named`` is its name in the API server's messages."""
    return Kind(
        version,
        cls,
        "spec.template",
        lambda found: _pod_of(found.metadata, found.spec.template),
        lambda _, pod: runs_for_ever(pod, named),
        asked,
    )


def _job(cls: type[Object], path: str, spec: Callable[[Any], JobSpec], asked: Callable[[Any], Asked]) -> Kind:
    return Kind(
        "batch/v1",
        cls,
        f"{path}.template",
        lambda found: _pod_of(found.metadata, spec(found).template),
        lambda found, pod: runs_to_its_end(pod, has_failure_policy=spec(found).pod_failure_policy is not None),
        asked,
    )


KINDS: Final[Mapping[str, Kind]] = {
    "Pod": Kind("v1", Pod, "", lambda pod: pod, lambda *_: [], lambda _: Asked()),
    "ReplicationController": _endless("v1", ReplicationController, _replicas, "ReplicationController"),
    # A ReplicaSet has the fields of a ReplicationController. The API server says ReplicaSet of a Deployment too.
    "ReplicaSet": _endless("apps/v1", ReplicationController, _replicas, "ReplicaSet"),
    "Deployment": _endless("apps/v1", Deployment, _replicas, "ReplicaSet"),
    "StatefulSet": _endless("apps/v1", StatefulSet, _numbered, "StatefulSet"),
    "DaemonSet": _endless("apps/v1", DaemonSet, lambda _: Asked(), "DaemonSet"),
    "Job": _job(Job, "spec", lambda found: found.spec, lambda found: _at_once(found.spec, "spec")),
    "CronJob": _job(CronJob, "spec.jobTemplate.spec", lambda found: found.spec.job_template.spec, _scheduled),
}

# The groups in which these kinds are or were; the kind of another group is a resource of its own.
_GROUPS: Final = frozenset({"", "apps", "batch", "extensions"})

_WITHOUT_PODS: Final[Mapping[str, frozenset[str]]] = {
    "v1": frozenset(
        {
            *("Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node"),
            *("PersistentVolume", "PersistentVolumeClaim", "PodTemplate", "ResourceQuota", "Secret", "Service"),
            "ServiceAccount",
        }
    ),
    "apps/v1": frozenset({"ControllerRevision"}),
    "batch/v1": frozenset(),
}
"""The other kinds of these versions (``kubectl api-resources``, 1.36): any further kind of them is misspelt, except
those of ``_OF_OTHERS``."""

_OF_OTHERS: Final = frozenset(
    {
        # A kubeconfig file, and what kubectl prints.
        *("Config", "Status"),
        # The kinds that OpenShift had in v1 before it gave them groups, and still takes there.
        *("Build", "BuildConfig", "DeploymentConfig", "Identity", "Image", "ImageStream", "ImageStreamImport"),
        *("ImageStreamTag", "OAuthClient", "Project", "ProjectRequest", "Route", "SecurityContextConstraints"),
        *("Template", "User"),
    }
)
"""Kinds that say apiVersion v1 and are no mistake, though no API server of Kubernetes has them."""


def group_of(version: str) -> str:
    """The group of an apiVersion; empty for the core's."""
    return version.rpartition("/")[0]


def kind_mistake(version: str, kind: str) -> FieldError | None:
    """The mistake of an apiVersion and a kind, neither empty; None if the kind has pods, or has none and may exist."""
    if kind in KINDS:
        wanted = KINDS[kind].version
        if version == wanted or group_of(version) not in _GROUPS:
            return None
        return FieldError("apiVersion", "Unsupported value", version, f"supported values: {go_value(wanted)}")
    others = _WITHOUT_PODS.get(version)
    if others is None or kind in others or (version == "v1" and kind in _OF_OTHERS):
        return None
    known = [*(name for name, kind_ in KINDS.items() if kind_.version == version), *others]
    close = difflib.get_close_matches(shorten(kind), known, n=1)
    meant = f"; did you mean {close[0]}?" if close else ""
    return FieldError("kind", "Unsupported value", kind, f"no kind of {version}{meant}")
