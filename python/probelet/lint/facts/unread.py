"""The commands that no rule reads, because they are too long."""

from collections.abc import Iterator

from probelet.lint.model.command_bound import COMMAND_CHARS_MAX, chars
from probelet.lint.model.workload import LintContainer, LintWorkload


def unread_commands(workload: LintWorkload) -> Iterator[tuple[str, str]]:
    """Yields the path of each command that is too long, and a line that says so."""
    for container in workload.containers:
        for path, command in _commands(container):
            if (found := chars(command)) > COMMAND_CHARS_MAX:
                yield path, f"{path}: not read: {found} characters, of at most {COMMAND_CHARS_MAX}"


def _commands(container: LintContainer) -> Iterator[tuple[str, list[str]]]:
    for probe in container.probes.values():
        if probe.spec.exec is not None:
            yield f"{probe.path}.exec.command", probe.spec.exec.command
    hook = container.spec.lifecycle.pre_stop if container.spec.lifecycle is not None else None
    if hook is not None and hook.exec is not None:
        yield f"{container.path}.lifecycle.preStop.exec.command", hook.exec.command
