"""What the embedded process runtime cannot honour: ignored with one line each, or asked for with one.

A container there is a process of this machine: it has no image, no cgroup and no mounts of its own.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from probelet.spec.container import Container, Lifecycle
from probelet.spec.downward import readable_field
from probelet.spec.pod import Pod, PodSpec
from probelet.spec.problem import FieldError, Problem

_PROCESS = "a container is a process of this machine"

# Field name -> why it has no effect. Fields that have none on a kubelet either (scheduling, service accounts of static
# pods, restart-neutral ones such as imagePullPolicy beside image) are left out: they would only be noise.
IGNORED_OF_CONTAINER: dict[str, str] = {
    "image": f"{_PROCESS}, started from command and args",
    "resources": f"{_PROCESS} without limits of its own",
    "security_context": f"{_PROCESS} and runs as the user who started probelet",
    "volume_mounts": f"{_PROCESS} and sees its files",
    "volume_devices": f"{_PROCESS} and sees its files",
    "env_from": "there is no API server to read it from; use env",
    "stdin": "standard input is empty",
    "tty": "output goes to the log, never to a terminal",
    "termination_message_path": "the message is not read",
    "termination_message_policy": "the message is not read",
}
IGNORED_OF_POD: dict[str, str] = {
    "dns_config": f"{_PROCESS} and resolves names as it does",
    "dns_policy": f"{_PROCESS} and resolves names as it does",
    "host_aliases": f"{_PROCESS} and resolves names as it does",
    "hostname": f"{_PROCESS} and has its host name",
    "resources": f"{_PROCESS} without limits of its own",
    "runtime_class_name": "there is one runtime",
    "security_context": f"{_PROCESS} and runs as the user who started probelet",
    "share_process_namespace": "all processes share one namespace",
    "volumes": f"{_PROCESS} and sees its files",
}


def ignored_fields(pod: Pod) -> list[Problem]:
    """One warning for each field that is set and has no effect in the process runtime."""
    problems = [
        Problem("warning", f"ignored: {reason}", field=field)
        for owner, prefix, table in _owners(pod)
        for field, reason in _set_fields(owner, prefix, table)
    ]
    for prefix, container in pod.spec.each_container():
        for index, entry in enumerate(container.env):
            if entry.value_from is not None and readable_field(entry.value_from) is None:
                message = "ignored: there is no API server to read it from; the variable is left unset"
                problems.append(Problem("warning", message, field=f"{prefix}.env[{index}].valueFrom"))
    return problems


def _owners(pod: Pod) -> Iterator[tuple[PodSpec | Container, str, dict[str, str]]]:
    yield pod.spec, "spec", IGNORED_OF_POD
    for prefix, container in pod.spec.each_container():
        yield container, prefix, IGNORED_OF_CONTAINER


def _set_fields(owner: PodSpec | Container, prefix: str, table: dict[str, str]) -> Iterator[tuple[str, str]]:
    for field in msgspec.structs.fields(owner):
        if field.name in table and getattr(owner, field.name) not in (None, "", {}, []):
            yield f"{prefix}.{field.encode_name}", table[field.name]


def require_command(pod: Pod) -> list[FieldError]:
    """The process runtime has no image to take an entry point from: every container needs a command."""
    detail = "the process runtime has no image to take it from"
    return [
        FieldError(f"{path}.command", "Required value", detail=detail)
        for path, container in pod.spec.each_container()
        if not container.command
    ]


def missing_programs(pod: Pod) -> list[FieldError]:
    """Programs that this machine does not have at the moment: a container that cannot start, a probe that only errs.

    No more than warnings, because another container or person may still put them there.
    """
    errors = []
    for path, container in pod.spec.each_container():
        for field, command, consequence in _commands(container):
            if command and not _found(command[0], container):
                detail = f"no such program on this machine{consequence}"
                errors.append(FieldError(f"{path}.{field}[0]", "Invalid value", command[0], detail))
    return errors


def _commands(container: Container) -> Iterator[tuple[str, list[str], str]]:
    yield "command", container.command, ", the container cannot start without it"
    for probe_type, probe in container.probes.items():
        if probe.exec is not None:
            # Not an exit code: the runtime cannot run it, which the prober discards (kubernetes#106682).
            yield f"{probe_type}Probe.exec.command", probe.exec.command, ", every run is an error without it"
    hooks = container.lifecycle or Lifecycle()
    for name, hook in (("postStart", hooks.post_start), ("preStop", hooks.pre_stop)):
        if hook is not None and hook.exec is not None:
            yield f"lifecycle.{name}.exec.command", hook.exec.command, ", the hook fails without it"


def _found(program: str, container: Container) -> bool:
    """Whether the container would find a program, as far as can be told before it starts."""
    path = next((entry.value for entry in reversed(container.env) if entry.name == "PATH"), None)
    if "$(" in program or "$(" in (path or ""):
        return True
    if "/" in program:
        return os.access(Path(container.working_dir, program), os.X_OK)
    return shutil.which(program, path=path) is not None
