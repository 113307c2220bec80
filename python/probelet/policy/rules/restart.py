"""Whether a container should run; ``node.restart_gate`` says whether it may start now.

The kubelet's ``ShouldContainerBeRestarted`` (pkg/kubelet/container/helpers.go, 1.36).
"""

import zlib
from functools import cache

from probelet._rust import RestartSpec
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


def back_off_key(pod: Pod, container: Container) -> str:
    """The key of a container's delay: a new pod or a new image starts without a delay.

    Kubelet kuberuntime/helpers.go:GetBackoffKey, 1.36; it hashes the same fields, and resources, which we ignore.
    """
    meta = pod.metadata
    return "/".join((meta.name, meta.namespace, meta.uid, container.name, container.image))


def definition(container: Container) -> str:
    """Returns the part of a container whose change makes a running one outdated: its name and image, and nothing else.

    Kubelet pkg/kubelet/container/helpers.go:HashContainer, 1.36.
    """
    return format(zlib.crc32(f"{container.name}\n{container.image}".encode()), "x")


def restart_spec(pod: Pod, container: Container) -> RestartSpec:
    """Returns the input of the decision whether this container runs again after it has ended: the core answers, here
    and in the prober."""
    policy, own = pod.spec.restart_policy or "Always", container.restart_policy or None
    if not container.restart_policy_rules:
        return _without_rules(policy, own)
    rules = [
        (rule.action, codes.operator, codes.values)
        for rule in container.restart_policy_rules
        # A rule without exit codes, or with an operator that the API does not have, matches nothing.
        if (codes := rule.exit_codes) is not None and codes.operator in ("In", "NotIn")
    ]
    return RestartSpec(policy, own, rules)


@cache
def _without_rules(policy: str, own: str | None) -> RestartSpec:
    return RestartSpec(policy, own)


def should_start(pod: Pod, container: Container, snapshot: Snapshot) -> bool:
    """Whether a container that does not run should. Never started, created or unknown: yes; exited: policy; ended:
    not before its exit is known."""
    record = snapshot.newest(container.name)
    if record is None:
        return True
    if record.state in (State.RUNNING, State.ENDED):
        return False
    return record.state is not State.EXITED or restart_spec(pod, container).after_exit(record.exit_code)
