"""The objects of a cluster for which a pattern of a scenario stands."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeAlias

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


class Template(NamedTuple):
    """The template from which a workload makes its pods."""

    kind: str
    """The workload's kind; ``Pod`` for a pod without one."""
    pod: Pod
    """Its pod, with defaults."""

    @property
    def containers(self) -> list[Container]:
        """The containers of the pod, init containers first."""
        return [container for _, container in self.pod.spec.each_container()]


Templates: TypeAlias = Mapping[str, Template]
"""The template of each workload of a cluster, by the name that the cluster gives the workload."""


def matches(pattern: str, name: str) -> bool:
    """Whether a name, or its part behind the namespace, matches."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)


def workloads(pattern: str, templates: Iterable[str]) -> list[str]:
    """The workloads that match."""
    return [name for name in templates if matches(pattern, name)]


def matches_container(pattern: str, workload: str, container: str) -> bool:
    """Whether a container matches: by its workload, or by ``workload/container``."""
    bare = workload.rpartition("/")[2]
    return matches(pattern, workload) or any(fnmatchcase(f"{name}/{container}", pattern) for name in (workload, bare))


def containers(pattern: str, templates: Templates) -> list[str]:
    """The targets that match: a workload, which stands for all its regular containers, or ``workload/container``."""
    found: list[str] = []
    for workload, template in templates.items():
        if matches(pattern, workload):
            found.append(workload)
        else:
            names = [container.name for container in template.containers]
            found += [f"{workload}/{name}" for name in names if matches_container(pattern, workload, name)]
    return found
