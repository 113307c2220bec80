"""Puts stand-ins into a pod in the place of its containers."""

import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec.structs import replace

from probelet.base.package_root import PACKAGE_ROOT
from probelet.runtime.embedded.stand_in import commands
from probelet.runtime.embedded.stand_in.plan import Behaviour, Plan, Port, encode
from probelet.spec.model.container import Container, Lifecycle, LifecycleHandler
from probelet.spec.model.env import EnvVar
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ExecAction, Probe, ProbeType

DONE: Final = "/bin/true"
"""The program of a container whose work is done at once, and of a hook that is a command."""

BehaviourOf: TypeAlias = Callable[[str, Container], Behaviour]
"""The behaviour of a container, by the name of its workload and itself."""


def played(container: Container) -> bool:
    """Whether a stand-in plays a container: one that is made of an image, because the embedded runtime has none and the
    command may be one of the image's, and one whose program this machine lacks."""
    return bool(container.image) or not container.command or shutil.which(container.command[0]) is None


def with_stand_ins(pod: Pod, workload: str, behaviour_of: BehaviourOf) -> tuple[Pod, list[str]]:
    """The pod with a stand-in in the place of each container that one plays; and the names of these containers."""
    spec = pod.spec
    ends = spec.restart_policy in ("Never", "OnFailure")
    names: list[str] = []
    # One container may probe the port of another, and the pod's stand-ins share its ports.
    over_tls = {number for _, each in spec.each_container() for number, is_tls in _asked_ports(each) if is_tls}

    def place(container: Container, *, is_init: bool) -> Container:
        if not played(container):
            return container
        names.append(container.name)
        is_done = is_init and container.restart_policy != "Always"
        if is_done or (ends and not container.ports and not container.probes):
            return _bare(container, [DONE])
        plan = Plan(
            name=f"{pod.metadata.name}/{container.name}",
            ports=[Port(number, number in over_tls) for number in _ports(container)],
            commands=[probe_type for probe_type, probe in container.probes.items() if probe.exec is not None],
            behaviour=behaviour_of(workload, container),
        )
        program = [sys.executable, "-P", "-m", "probelet.runtime.embedded.stand_in", encode(plan)]
        return _bare(container, program)

    init = [place(container, is_init=True) for container in spec.init_containers]
    regular = [place(container, is_init=False) for container in spec.containers]
    if not names:
        return pod, names
    # On the network of the host the ports of several pods, and of the machine's own programs, would be the same ones.
    on_host = spec.host_network and len(names) < len(init) + len(regular)
    return replace(pod, spec=replace(spec, init_containers=init, containers=regular, host_network=on_host)), names


def _bare(container: Container, program: list[str]) -> Container:
    """The container with another program. It has no variables, because they may come from objects that are not here.

    It names no user either: a stand-in is a program of probelet's own, and its container may have a port below 1024.
    """
    probes = {f"{probe_type}_probe": _asked(probe, probe_type) for probe_type, probe in container.probes.items()}
    return replace(
        container,
        command=program,
        args=[],
        working_dir="",
        env=[EnvVar(name="PYTHONPATH", value=PACKAGE_ROOT)],
        env_from=[],
        security_context=None,
        lifecycle=_hooks(container.lifecycle),
        **probes,
    )


def _asked(probe: Probe, probe_type: ProbeType) -> Probe:
    """The probe as the stand-in is asked: at the pod's address, and by a command of its own."""
    if probe.exec is not None:
        return replace(probe, exec=ExecAction(command=commands.command(probe_type)))
    if probe.http_get is not None:
        return replace(probe, http_get=replace(probe.http_get, host=""))
    if probe.tcp_socket is not None:
        return replace(probe, tcp_socket=replace(probe.tcp_socket, host=""))
    return probe


def _hooks(lifecycle: Lifecycle | None) -> Lifecycle | None:
    """The hooks; of one that is no sleep nothing is asked."""
    if lifecycle is None:
        return None
    done = LifecycleHandler(exec=ExecAction(command=[DONE]))
    return replace(
        lifecycle,
        post_start=_hook(lifecycle.post_start, done),
        pre_stop=_hook(lifecycle.pre_stop, done),
    )


def _hook(hook: LifecycleHandler | None, done: LifecycleHandler) -> LifecycleHandler | None:
    return hook if hook is None or hook.sleep is not None else done


def _ports(container: Container) -> list[int]:
    """The ports that a container declares or that its probes ask."""
    declared = [port.container_port for port in container.ports if port.protocol in ("", "TCP")]
    return list(dict.fromkeys([*declared, *(number for number, _ in _asked_ports(container))]))


def _asked_ports(container: Container) -> Iterator[tuple[int, bool]]:
    """The ports that the probes of a container ask, and whether over TLS."""
    for probe in container.probes.values():
        if probe.http_get is not None:
            port, is_tls = probe.http_get.port, probe.http_get.scheme.upper() == "HTTPS"
        elif probe.grpc is not None:
            port, is_tls = probe.grpc.port, probe.grpc.mode == "TLS"
        elif probe.tcp_socket is not None:
            port, is_tls = probe.tcp_socket.port, False
        else:
            continue
        number = container.numbered(port)
        if isinstance(number, int) and number:
            yield number, is_tls
