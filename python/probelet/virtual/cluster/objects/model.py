"""The fields of workloads that a virtual cluster reads (Kubernetes 1.36)."""

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Int32, Object, ObjectMeta


class RollingUpdate(Object, frozen=True, kw_only=True):
    """How many pods may be missing, or more than wanted, while a workload is rolled out."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    partition: Int32 = 0
    """Of a StatefulSet: pods with a lower ordinal keep their version."""


class Strategy(Object, frozen=True, kw_only=True):
    """``strategy`` of a Deployment, ``updateStrategy`` of a StatefulSet or DaemonSet."""

    type: str = ""
    """``RollingUpdate`` (default), ``Recreate`` (Deployment) or ``OnDelete`` (the others)."""
    rolling_update: RollingUpdate = RollingUpdate()


class WorkloadSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a workload, whatever its kind."""

    replicas: Int32 | None = None
    min_ready_seconds: Int32 = 0
    progress_deadline_seconds: Int32 | None = None
    """Default 600."""
    paused: bool = False
    strategy: Strategy = Strategy()
    update_strategy: Strategy = Strategy()
    pod_management_policy: str = ""
    """``OrderedReady`` (default) or ``Parallel``."""


class WorkloadObject(Object, frozen=True, kw_only=True):
    """A workload without its template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
