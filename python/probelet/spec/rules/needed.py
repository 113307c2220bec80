"""The requirements of each kind of runtime for a manifest: a command to start, or an image."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from probelet.spec.model.container import Container, Lifecycle
from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError


def require_image(pod: Pod) -> list[FieldError]:
    """Every container needs an image, from which a CRI runtime creates it (``validateContainerCommon``, 1.36)."""
    errors = []
    for path, container in pod.spec.each_container():
        image = container.image
        if not image:
            errors.append(FieldError(f"{path}.image", "Required value"))
        elif image != image.strip():
            detail = "must not have leading or trailing whitespace"
            errors.append(FieldError(f"{path}.image", "Invalid value", image, detail))
    return errors


def require_command(pod: Pod) -> list[FieldError]:
    """Every container needs a command: the embedded runtime has no image whose entry point it could use."""
    detail = (
        "the embedded runtime has no images, so name a program of this machine (or give run a --runtime, or --stand-in)"
    )
    return [
        FieldError(f"{path}.command", "Required value", detail=detail)
        for path, container in pod.spec.each_container()
        if not container.command
    ]


def cannot_start(pod: Pod) -> list[str]:
    """The containers that have no program on this machine, ``pod/container``."""
    return [
        f"{pod.metadata.name}/{container.name}"
        for _, container in pod.spec.each_container()
        if not container.command or not _found(container.command[0], container)
    ]


def missing_programs(pod: Pod) -> list[FieldError]:
    """Programs that this machine lacks now: the container cannot start, or every probe run is an error.

    These are only warnings, because another container or a person may still install the program.
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
            # The runtime cannot run it, so there is no exit code and the prober discards the run (kubernetes#106682).
            yield f"{probe_type}Probe.exec.command", probe.exec.command, ", every run is an error without it"
    hooks = container.lifecycle or Lifecycle()
    for name, hook in (("postStart", hooks.post_start), ("preStop", hooks.pre_stop)):
        if hook is not None and hook.exec is not None:
            yield f"lifecycle.{name}.exec.command", hook.exec.command, ", the hook fails without it"


def _found(program: str, container: Container) -> bool:
    """True if the container would find ``program``, or if only its start can tell."""
    path = next((entry.value for entry in reversed(container.env) if entry.name == "PATH"), None)
    if "$(" in program or "$(" in (path or ""):
        return True
    if "\0" in program or "\0" in container.working_dir:
        # No file has such a name, and Python raises an error for it.
        return False
    if "/" in program:
        return os.access(Path(container.working_dir, program), os.X_OK)
    return shutil.which(program, path=path) is not None
