"""Drops the fields of switched-off feature gates, unless the running object already has them (ratcheting).

The API server does the same on create and update (``dropDisabledFields``: 1.27 for KEP-2238, 1.36 for restart rules,
1.37 for the two others).
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec.structs import replace

from probelet.spec.annotation.initialization import with_probes
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType


class _GatedField(Protocol):
    """The part of a pod that one gate controls."""

    def used_by(self, pod: Pod) -> bool:
        """True if any container of ``pod`` has the field."""

    def dropped_from(self, container: Container, *, init: bool) -> Container:
        """``container`` without the field; ``init`` is true for ``spec.initContainers``."""


class _GatedProbeField:
    """A gated field of a probe."""

    def __init__(self, uses: Callable[[Probe, ProbeType], bool], drop: Callable[[Probe], Probe]) -> None:
        self.uses = uses
        self.drop = drop

    def used_by(self, pod: Pod) -> bool:
        return any(
            self.uses(probe, probe_type)
            for _, container in pod.spec.each_container()
            for probe_type, probe in container.probes.items()
        )

    def dropped_from(self, container: Container, *, init: bool) -> Container:
        changed = {
            probe_type: self.drop(probe)
            for probe_type, probe in container.probes.items()
            if self.uses(probe, probe_type)
        }
        return with_probes(container, changed) if changed else container


class _GatedRestartPolicy:
    """A gated part of a container's own restart policy. ``drop`` returns the same object if there is none."""

    def __init__(self, drop: Callable[[Container, bool], Container]) -> None:
        self.drop = drop

    def used_by(self, pod: Pod) -> bool:
        init = (self.drop(container, True) is not container for container in pod.spec.init_containers)
        regular = (self.drop(container, False) is not container for container in pod.spec.containers)
        return any(init) or any(regular)

    def dropped_from(self, container: Container, *, init: bool) -> Container:
        return self.drop(container, init)


def _without_protocol(probe: Probe) -> Probe:
    return probe if probe.http_get is None else replace(probe, http_get=replace(probe.http_get, protocol=None))


def _without_mode(probe: Probe) -> Probe:
    return probe if probe.grpc is None else replace(probe, grpc=replace(probe.grpc, mode=None))


def _without_own_policy(container: Container, init: bool) -> Container:
    # On an init container Always makes a sidecar, which another gate controls.
    sidecar = init and container.restart_policy == "Always"
    if (sidecar or container.restart_policy is None) and not container.restart_policy_rules:
        return container
    return replace(container, restart_policy="Always" if sidecar else None, restart_policy_rules=[])


def _without_restart_of_all(container: Container, _: bool) -> Container:
    rules = [rule for rule in container.restart_policy_rules if rule.action != "RestartAllContainers"]
    return container if rules == container.restart_policy_rules else replace(container, restart_policy_rules=rules)


_GATED: dict[str, _GatedField] = {
    "ContainerRestartRules": _GatedRestartPolicy(_without_own_policy),
    # The API server refuses such a rule; the kubelet runs the pod without it.
    "RestartAllContainersOnContainerExits": _GatedRestartPolicy(_without_restart_of_all),
    # Readiness keeps the field: validation refuses it there, and a silent drop would hide the mistake.
    "ProbeTerminationGracePeriod": _GatedProbeField(
        lambda probe, probe_type: probe.termination_grace_period_seconds is not None and probe_type != "readiness",
        lambda probe: replace(probe, termination_grace_period_seconds=None),
    ),
    "H2CContainerProbe": _GatedProbeField(
        lambda probe, _: probe.http_get is not None and probe.http_get.protocol is not None,
        _without_protocol,
    ),
    "GRPCContainerProbeTLS": _GatedProbeField(
        lambda probe, _: probe.grpc is not None and probe.grpc.mode is not None,
        _without_mode,
    ),
}


def drop_disabled_fields(new: Pod, old: Pod | None, gates: Mapping[str, bool]) -> Pod:
    """``new`` without the fields whose gate is off, unless ``old``, the running pod of that name, has them.

    ``gates`` has a value for every gate of the table (``config.Gates``). Changes neither pod.
    """
    for gate, gated in _GATED.items():
        if gates[gate] or (old is not None and gated.used_by(old)):
            continue
        spec = new.spec
        new = replace(
            new,
            spec=replace(
                spec,
                containers=[gated.dropped_from(container, init=False) for container in spec.containers],
                init_containers=[gated.dropped_from(container, init=True) for container in spec.init_containers],
                ephemeral_containers=[
                    gated.dropped_from(container, init=False) for container in spec.ephemeral_containers
                ],
            ),
        )
    return new
