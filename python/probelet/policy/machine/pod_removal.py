"""How all of a pod is killed, and how its containers and sandboxes are removed."""

from probelet.policy import messages
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.kill.killing import Killing
from probelet.policy.protocol.effects import RemoveContainer, RemoveSandbox, StopSandbox
from probelet.policy.rules.grace import Grace
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.strand import Strand, call


def kill_pod(context: PodContext, killing: Killing, snapshot: Snapshot, grace: Grace | None) -> Strand[None]:
    """Every running container at once, then the sandboxes (kubelet killPodWithSyncResult, 1.36).

    Without a ``grace`` each container is killed at once, below the kubelet's minimum.
    """
    running = snapshot.running()
    if grace is None:
        outcomes = yield from killing.kill_at_once(running)
    else:
        outcomes = yield from killing.kill_all(running, grace)
    if snapshot.sandboxes:
        outcomes += yield from call(*(StopSandbox(sandbox.id) for sandbox in snapshot.sandboxes))
    errors = [outcome.error for outcome in outcomes if outcome.error]
    if errors:
        context.failed = True
        context.record("Warning", messages.FAILED_KILL_POD, messages.failed_kill("; ".join(errors)))


def remove(context: PodContext, *effects: RemoveContainer | RemoveSandbox) -> Strand[None]:
    """Remove these at the same time; a failure has the programme tried again."""
    outcomes = yield from call(*effects)
    context.failed |= any(outcome.error for outcome in outcomes)


def remove_pod(context: PodContext, snapshot: Snapshot) -> Strand[None]:
    """Every container, then every sandbox (kubelet.go:SyncTerminatedPod and its garbage collection, 1.36)."""
    if snapshot.containers:
        # The logs go with the pod's directory, unless the node keeps them.
        removals = (RemoveContainer(record.name, record.id, keep_log=True) for record in snapshot.containers)
        yield from remove(context, *removals)
    if snapshot.sandboxes and not context.failed:
        yield from remove(context, *(RemoveSandbox(sandbox.id) for sandbox in snapshot.sandboxes))
