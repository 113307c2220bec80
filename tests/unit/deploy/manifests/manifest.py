"""Reads kustomizations as far as their lists of resources and components; patches are kubectl's to apply."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kustomize" / "base"
OVERLAYS = DEPLOY / "kustomize" / "overlays"
COMPONENTS = DEPLOY / "kustomize" / "components"
MONITORING = COMPONENTS / "monitoring"
ENHANCED = COMPONENTS / "enhanced-liveness"
CHART = DEPLOY / "chart"

NAMESPACE = "probelet-system"

Object = dict[str, Any]

# PyYAML has libyaml's loader only where it was built with that; it is ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Manifests:
    """The objects of a kustomization."""

    objects: list[Object]

    def __iter__(self) -> Iterator[Object]:
        return iter(self.objects)

    def one(self, kind: str, name: str) -> Object:
        """The object of this kind and name; there is exactly one."""
        (found,) = [one for one in self.objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
        return found

    def kinds(self, *kinds: str) -> list[Object]:
        return [one for one in self.objects if one["kind"] in kinds]


def documents(place: Path) -> list[Object]:
    """The documents of a file, or of each file in a folder."""
    found = sorted(place.glob("*.yaml")) if place.is_dir() else [place]
    return [document for file in found for document in yaml.load_all(file.read_text(), LOADER) if document]


def kustomization(folder: Path) -> Object:
    (found,) = documents(folder / "kustomization.yaml")
    return found


def files(folder: Path) -> Iterator[Path]:
    """The files that the kustomization lists, also through other folders and components."""
    found = kustomization(folder)
    for name in [*found.get("resources", []), *found.get("components", [])]:
        path = (folder / name).resolve()
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def read(folder: Path) -> Manifests:
    return Manifests([document for file in files(folder) for document in documents(file)])


def pod_of(workload: Object) -> Object:
    """The pod's spec in a workload's template."""
    spec: Object = workload["spec"]["template"]["spec"]
    return spec


def container_of(workload: Object) -> Object:
    """The only container of the workload's pod."""
    (container,) = pod_of(workload)["containers"]
    found: Object = container
    return found


def option(container: Object, name: str) -> str:
    """The value of ``--name=VALUE`` in the arguments."""
    (found,) = [word for word in container["args"] if word.startswith(f"--{name}=")]
    return str(found).partition("=")[2]
