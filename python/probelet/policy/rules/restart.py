"""Whether a container should run again; ``gate`` says whether it may do so now.

The kubelet's ``ShouldContainerBeRestarted`` (pkg/kubelet/container/helpers.go, 1.36).
"""

import zlib
from typing import Literal, cast

from probelet.policy.facts.snapshot import Snapshot, State
from probelet.spec.model.container import Container, ContainerRestartRule
from probelet.spec.model.pod import Pod

Policy = Literal["Always", "OnFailure", "Never"]


def back_off_key(pod: Pod, container: Container) -> str:
    """What the delay is remembered by: a new pod or a new image starts with a clean slate.

    Kubelet kuberuntime/helpers.go:GetBackoffKey, 1.36; it hashes the same fields, and resources, which we ignore.
    """
    meta = pod.metadata
    return "/".join((meta.name, meta.namespace, meta.uid, container.name, container.image))


def definition(container: Container) -> str:
    """What makes a running container outdated: its name and image, and nothing else.

    Kubelet pkg/kubelet/container/helpers.go:HashContainer, 1.36.
    """
    return format(zlib.crc32(f"{container.name}\n{container.image}".encode()), "x")


def effective_policy(pod: Pod, container: Container) -> Policy:
    """The container's own restartPolicy, else the pod's; empty means Always."""
    return cast(Policy, container.restart_policy or pod.spec.restart_policy or "Always")


def matching_rule(container: Container, exit_code: int) -> ContainerRestartRule | None:
    """The first restart rule that speaks about this exit code (``FindMatchingContainerRestartRule``)."""
    return next((rule for rule in container.restart_policy_rules if _matches(rule, exit_code)), None)


def restarts_after_exit(pod: Pod, container: Container, exit_code: int) -> bool:
    """Rules first, then the policy (kubelet pkg/api/v1/pod/util.go:ContainerShouldRestart, 1.36).

    Rules count only together with the container's own policy; each of them restarts.
    """
    if container.restart_policy and matching_rule(container, exit_code) is not None:
        return True
    policy = effective_policy(pod, container)
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def restarts_after_kill(pod: Pod, container: Container) -> bool:
    """After a probe kill there is no exit code yet: rules are not looked at and OnFailure restarts.

    Kubelet kuberuntime_manager.go:computePodActions, 1.36.
    """
    return effective_policy(pod, container) != "Never"


def should_start(pod: Pod, container: Container, snapshot: Snapshot) -> bool:
    """Whether a container that does not run should. Never started, created or unknown: yes; exited: policy."""
    record = snapshot.newest(container.name)
    if record is None:
        return True
    if record.state is State.RUNNING:
        return False
    return record.state is not State.EXITED or restarts_after_exit(pod, container, record.exit_code)


def _matches(rule: ContainerRestartRule, exit_code: int) -> bool:
    codes = rule.exit_codes
    if codes is None or codes.operator not in ("In", "NotIn"):
        return False
    return (exit_code in codes.values) == (codes.operator == "In")
