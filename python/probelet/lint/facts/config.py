"""The configuration that a pod gets from ConfigMaps."""

from collections.abc import Iterator
from typing import Any

from probelet.lint.model.workload import LintWorkload


def config_texts(workload: LintWorkload) -> Iterator[str]:
    """The values of the ConfigMaps beside the workload that its containers get as files or variables."""
    names = {*_in_volumes(workload.pod.spec.volumes), *_in_variables(workload)}
    for found in workload.scope.neighbours.config_maps(workload.written_namespace, sorted(names)):
        yield from found.data.values()


def _in_volumes(volumes: Any) -> Iterator[str]:
    """The names in ``configMap`` of volumes and of projected sources. The model passes volumes on unread."""
    for volume in volumes if isinstance(volumes, list) else []:
        if not isinstance(volume, dict):
            continue
        projected = volume.get("projected")
        sources = projected.get("sources") if isinstance(projected, dict) else None
        for each in [volume, *(sources if isinstance(sources, list) else [])]:
            found = each.get("configMap") if isinstance(each, dict) else None
            if isinstance(found, dict) and isinstance(name := found.get("name"), str):
                yield name


def _in_variables(workload: LintWorkload) -> Iterator[str]:
    for container in workload.containers:
        for entry in container.spec.env_from:
            if entry.config_map_ref is not None:
                yield entry.config_map_ref.name
