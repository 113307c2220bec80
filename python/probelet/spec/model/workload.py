"""The workloads, which have a pod template (apps/v1, batch/v1, and the core's ReplicationController, Kubernetes 1.36).

Fields typed ``Opaque`` are known and not read, so that a misspelt field is a warning.
"""

from probelet.spec.model.meta import Int32, Object, ObjectMeta, Opaque
from probelet.spec.model.pod import PodSpec


class PodTemplateSpec(Object, frozen=True, kw_only=True):
    """A pod without a name. A controller takes labels, annotations and finalizers of ``metadata``, and nothing else."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class ReplicationControllerSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a ReplicationController or a ReplicaSet."""

    replicas: Int32 | None = None
    """Default 1."""
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: Opaque = None
    selector: Opaque = None


class DeploymentSpec(ReplicationControllerSpec, frozen=True, kw_only=True):
    """The wanted state of a Deployment."""

    paused: Opaque = None
    progress_deadline_seconds: Opaque = None
    revision_history_limit: Opaque = None
    strategy: Opaque = None


class Ordinals(Object, frozen=True, kw_only=True):
    """How a StatefulSet numbers its pods."""

    start: Int32 = 0


class StatefulSetSpec(ReplicationControllerSpec, frozen=True, kw_only=True):
    """The wanted state of a StatefulSet."""

    ordinals: Ordinals = Ordinals()
    persistent_volume_claim_retention_policy: Opaque = None
    pod_management_policy: Opaque = None
    revision_history_limit: Opaque = None
    service_name: Opaque = None
    update_strategy: Opaque = None
    volume_claim_templates: Opaque = None


class DaemonSetSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a DaemonSet: one pod on each node."""

    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: Opaque = None
    revision_history_limit: Opaque = None
    selector: Opaque = None
    update_strategy: Opaque = None


class JobSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a Job."""

    parallelism: Int32 | None = None
    """The most pods at once. Default 1."""
    completions: Int32 | None = None
    """How many pods have to succeed. None: any one."""
    completion_mode: str = ""
    """``Indexed`` or ``NonIndexed`` (default)."""
    suspend: bool | None = None
    """A suspended Job has no pods."""
    template: PodTemplateSpec = PodTemplateSpec()
    active_deadline_seconds: Opaque = None
    backoff_limit: Opaque = None
    backoff_limit_per_index: Opaque = None
    managed_by: Opaque = None
    manual_selector: Opaque = None
    max_failed_indexes: Opaque = None
    pod_failure_policy: Opaque = None
    pod_replacement_policy: Opaque = None
    selector: Opaque = None
    success_policy: Opaque = None
    ttl_seconds_after_finished: Opaque = None


class JobTemplateSpec(Object, frozen=True, kw_only=True):
    """The Job that a CronJob makes each time."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a CronJob."""

    job_template: JobTemplateSpec = JobTemplateSpec()
    suspend: bool | None = None
    """A suspended CronJob makes no Jobs."""
    concurrency_policy: Opaque = None
    failed_jobs_history_limit: Opaque = None
    schedule: Opaque = None
    starting_deadline_seconds: Opaque = None
    successful_jobs_history_limit: Opaque = None
    time_zone: Opaque = None


class Workload(Object, frozen=True, kw_only=True):
    """The fields of every workload beside its spec."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    status: Opaque = None


class ReplicationController(Workload, frozen=True, kw_only=True):
    """A v1.ReplicationController, or an apps/v1.ReplicaSet: the same fields."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class Deployment(Workload, frozen=True, kw_only=True):
    """An apps/v1.Deployment."""

    spec: DeploymentSpec = DeploymentSpec()


class StatefulSet(Workload, frozen=True, kw_only=True):
    """An apps/v1.StatefulSet."""

    spec: StatefulSetSpec = StatefulSetSpec()


class DaemonSet(Workload, frozen=True, kw_only=True):
    """An apps/v1.DaemonSet."""

    spec: DaemonSetSpec = DaemonSetSpec()


class Job(Workload, frozen=True, kw_only=True):
    """A batch/v1.Job."""

    spec: JobSpec = JobSpec()


class CronJob(Workload, frozen=True, kw_only=True):
    """A batch/v1.CronJob."""

    spec: CronJobSpec = CronJobSpec()
