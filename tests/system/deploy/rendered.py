"""Objects as kubectl and helm render them."""

from pathlib import Path
from typing import Any

import yaml

from tests.system.deploy.programs import helm, kubectl, run
from tests.unit.deploy.manifests.manifest import CHART, NAMESPACE

Name = tuple[str, str, str]
"""Kind, namespace, name."""
Objects = dict[Name, dict[str, Any]]


def kustomized(folder: Path) -> Objects:
    """The objects of a kustomization."""
    return _objects(run(kubectl(), "kustomize", folder))


def templated(*values: str, namespace: str = NAMESPACE) -> Objects:
    """The objects of the chart; ``values`` are flags of helm."""
    # helm from its module thinks of an old release of Kubernetes.
    flags = ("--namespace", namespace, "--kube-version", "1.36.3")
    return _objects(run(helm(), "template", "probelet", CHART, *flags, *values))


def _objects(text: str) -> Objects:
    documents = [document for document in yaml.safe_load_all(text) if document]
    found = {name(document): document for document in documents}
    assert len(found) == len(documents), "two objects have one name"
    return found


def name(one: dict[str, Any]) -> Name:
    return one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]
