"""The programs of this machine that pods run on the embedded runtime."""

from collections.abc import Container as Collection
from collections.abc import Iterable, Iterator

from probelet.spec.model.container import Container, Lifecycle
from probelet.spec.model.pod import Pod


def programs(pods: Iterable[Pod], played: Collection[str] = ()) -> list[str]:
    """The programs of containers, exec probes and hooks, each with the first container that runs it:
    ``/bin/sh (web/app)``. ``played``: containers of which nothing runs, ``web/app``."""
    found: dict[str, str] = {}
    for pod in pods:
        for _, container in pod.spec.each_container():
            name = f"{pod.metadata.name}/{container.name}"
            for command in _commands(container) if name not in played else ():
                if command:
                    found.setdefault(command[0], f"{command[0]} ({name})")
    return list(found.values())


def _commands(container: Container) -> Iterator[list[str]]:
    yield container.command
    hooks = container.lifecycle or Lifecycle()
    for action in (*container.probes.values(), hooks.post_start, hooks.pre_stop):
        if action is not None and action.exec is not None:
            yield action.exec.command
