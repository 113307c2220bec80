"""The programs of this machine that pods run on the embedded runtime."""

from collections.abc import Iterable, Iterator

from probelet.spec.model.container import Container, Lifecycle
from probelet.spec.model.pod import Pod


def programs(pods: Iterable[Pod]) -> list[str]:
    """The programs of containers, exec probes and hooks, each with the first container that runs it:
    ``/bin/sh (web/app)``."""
    found: dict[str, str] = {}
    for pod in pods:
        for _, container in pod.spec.each_container():
            for command in _commands(container):
                if command:
                    found.setdefault(command[0], f"{command[0]} ({pod.metadata.name}/{container.name})")
    return list(found.values())


def _commands(container: Container) -> Iterator[list[str]]:
    yield container.command
    hooks = container.lifecycle or Lifecycle()
    for action in (*container.probes.values(), hooks.post_start, hooks.pre_stop):
        if action is not None and action.exec is not None:
            yield action.exec.command
