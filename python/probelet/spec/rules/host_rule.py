"""The Pod Security rule against a host in probes and hooks (KEP-4940, level baseline, policy 1.34 and later).

An API server refuses the whole pod in one sentence; here each field gets its own error, in the same words.
"""

from collections.abc import Iterator

from probelet.spec.model.container import Container, LifecycleHandler
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError

POLICY = 'violates PodSecurity "baseline:v1.34": probe or lifecycle host'


def denied_hosts(pod: Pod) -> list[FieldError]:
    """One error per host in a probe or hook of any container; an empty host passes.

    Every handler of a probe counts, not only the one that runs. The rule refuses localhost too: it keeps a pod from
    making the kubelet connect to anything but the pod (policy check ``hostProbesAndHostLifecycle``, 1.34).
    """
    return [
        FieldError(
            f"{path}.{field}.host",
            "Forbidden",
            detail=f"{POLICY} (container {go_quote(container.name)} uses probe or lifecycle host {go_quote(host)})",
        )
        for path, container in pod.spec.each_container()
        for field, host in _hosts(container)
    ]


def _hosts(container: Container) -> Iterator[tuple[str, str]]:
    """Yields the path and host of each handler that names a host."""
    owners: dict[str, Probe | LifecycleHandler | None] = {
        f"{probe_type}Probe": probe for probe_type, probe in container.probes.items()
    }
    if container.lifecycle is not None:
        owners["lifecycle.postStart"] = container.lifecycle.post_start
        owners["lifecycle.preStop"] = container.lifecycle.pre_stop
    for path, owner in owners.items():
        if owner is not None and owner.http_get is not None and owner.http_get.host:
            yield f"{path}.httpGet", owner.http_get.host
        if owner is not None and owner.tcp_socket is not None and owner.tcp_socket.host:
            yield f"{path}.tcpSocket", owner.tcp_socket.host
