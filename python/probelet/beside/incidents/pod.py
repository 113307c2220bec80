"""A pod of enhanced liveness as the detector's subjects."""

from functools import lru_cache

from probelet.beside.guard.context.codec import ContextError, decode
from probelet.beside.guard.objects.node_probes import PodProbes
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.policy.incidents import Subject
from probelet.policy.incidents.subjects import CommandReader, workload_by
from probelet.spec.annotation.depends_on import names_in
from probelet.spec.model.container import Container


def subjects_of(pod: GuardedPod, probes: PodProbes, read_command: CommandReader) -> tuple[Subject, ...]:
    """One for each of its probes that a node runs."""
    owner = pod.owner
    workload = "" if owner is None else workload_by(owner.kind, owner.name, pod.labels)
    declared = _declared(pod.depends_on)
    commands = dict(_commands(pod.context))
    images = {container.name: container.image for container in pod.containers}
    found = []
    for probe in probes.probes:
        asked = dict.fromkeys(declared)
        if (command := commands.get(probe.container)) is not None:
            # The values of variables do not stand in a pod's part that the controller reads.
            asked.update(dict.fromkeys(read_command(Container(name=probe.container), list(command))))
        found.append(
            Subject(
                pod.uid,
                pod.namespace,
                pod.name,
                probe.container,
                "liveness",
                pod.node,
                workload=workload,
                image=images.get(probe.container, ""),
                targets=tuple(asked),
                period_ms=probe.period_seconds * 1_000,
                timeout_ms=probe.timeout_seconds * 1_000,
                failure_threshold=probe.failure_threshold,
            )
        )
    return tuple(found)


@lru_cache(1_024)
def _declared(text: str) -> tuple[str, ...]:
    return names_in(text)[0] if text else ()


@lru_cache(1_024)
def _commands(context: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The command of each container whose probe runs one. The pods of a workload have one annotation: read once."""
    try:
        entries = decode(context) if context else ()
    except ContextError:
        return ()
    probes = ((entry.name, entry.liveness_probe) for entry in entries)
    return tuple((name, tuple(probe.exec.command)) for name, probe in probes if probe.exec is not None)
