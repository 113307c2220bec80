"""The part of a pod that the agent reads: probes, hooks, ports, variables, policies; a few KiB of a pod of 1 MiB."""

from typing import Final

from msgspec.structs import replace

from probelet.beside.takeover.names import ENHANCED_LIVENESS, MADE_ANNOTATION, MIRROR_ANNOTATION, PRE_STOP_IDEMPOTENT
from probelet.beside.takeover.reading import Reading
from probelet.policy.incidents.subjects import REVISIONS
from probelet.spec.annotation.depends_on import ANNOTATION as DEPENDS_ON
from probelet.spec.annotation.hold_kills import ANNOTATION as HOLD_KILLS
from probelet.spec.annotation.probe_changes import ANNOTATION as PROBE_CHANGES
from probelet.spec.annotation.probe_options import ANNOTATION as PROBE_OPTIONS
from probelet.spec.model.container import Container
from probelet.spec.model.env import EnvVar
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.rules.defaults import set_defaults

READ_ANNOTATIONS: Final[tuple[str, ...]] = (
    ENHANCED_LIVENESS,
    MADE_ANNOTATION,
    MIRROR_ANNOTATION,
    PRE_STOP_IDEMPOTENT,
    DEPENDS_ON,
    HOLD_KILLS,
    PROBE_OPTIONS,
    PROBE_CHANGES,
)
"""The annotations that decide which probes are the agent's, which ones the kubelet has in their place, and whether a
hook may run twice; the one that names what the probes ask; the one that lets kills wait; and those with what the pod
asks for its probes beyond the kubelet. Owner and version are for incidents too."""

_REFERENCE: Final = "$("
"""The text in every command that refers to a variable."""


def definition(pod: Pod, annotation: str) -> Pod:
    """``pod`` without what neither the takeover nor the engine, the hooks or the graces read."""
    expands = _REFERENCE in annotation
    meta, spec = pod.metadata, pod.spec
    owners = [owner for owner in meta.owner_references if owner.controller]
    labels = {name: meta.labels[name] for name in REVISIONS if name in meta.labels}
    kept = {name: meta.annotations[name] for name in READ_ANNOTATIONS if name in meta.annotations}
    return Pod(
        api_version="v1",
        kind="Pod",
        metadata=ObjectMeta(
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
            labels=labels,
            annotations=kept,
            owner_references=owners,
        ),
        spec=PodSpec(
            containers=[_container(container, expands=expands) for container in spec.containers],
            init_containers=[_container(container, expands=expands) for container in spec.init_containers],
            restart_policy=spec.restart_policy,
            termination_grace_period_seconds=spec.termination_grace_period_seconds,
            host_network=spec.host_network,
            node_selector=spec.node_selector,
            os=spec.os,
            readiness_gates=spec.readiness_gates,
        ),
    )


def _container(container: Container, *, expands: bool) -> Container:
    # A variable without a literal value counts as empty in a command (kubelet ExpandContainerCommandOnlyStatic, 1.36).
    # Values may be secrets, so they are kept only if a command names some.
    env = [EnvVar(name=variable.name, value=variable.value) for variable in container.env] if expands else []
    return Container(
        name=container.name,
        image=container.image,
        ports=container.ports,
        env=env,
        liveness_probe=container.liveness_probe,
        readiness_probe=container.readiness_probe,
        startup_probe=container.startup_probe,
        lifecycle=container.lifecycle,
        restart_policy=container.restart_policy,
        restart_policy_rules=container.restart_policy_rules,
    )


def probed(pod: Pod, reading: Reading) -> Pod:
    """The definition with the probes that were taken over and no others, defaulted: the rest is the kubelet's."""

    def changed(container: Container) -> Container:
        own: dict[ProbeType, Probe] = dict(reading.probes.get(container.name, {}))
        return replace(
            container,
            liveness_probe=own.get("liveness"),
            readiness_probe=own.get("readiness"),
            startup_probe=own.get("startup"),
        )

    spec = replace(
        pod.spec,
        containers=[changed(container) for container in pod.spec.containers],
        init_containers=[changed(container) for container in pod.spec.init_containers],
    )
    return set_defaults(replace(pod, spec=spec))


def with_probes_of(was: Pod, now: Pod) -> Pod:
    """The definition ``now`` of a pod whose probes may change, with nothing of its annotations but the options of its
    probes: all others count as in ``was``."""
    options = now.metadata.annotations.get(PROBE_OPTIONS)
    kept = {name: text for name, text in was.metadata.annotations.items() if name != PROBE_OPTIONS}
    kept |= {} if options is None else {PROBE_OPTIONS: options}
    return replace(now, metadata=replace(was.metadata, annotations=kept))
