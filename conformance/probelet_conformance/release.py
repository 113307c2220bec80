"""The release of Kubernetes that something was recorded with."""

import re

from probelet.config.gate import DEFAULT_VERSION, VERSIONS

MODULE = re.compile(r"k8s\.io/kubernetes v(\d+\.\d+)\.\d+")


def release_of(module: str) -> str:
    """The minor release of a module like ``k8s.io/kubernetes v1.36.3``, here 1.36; the default one if it names none."""
    named = MODULE.fullmatch(module)
    return named[1] if named and named[1] in VERSIONS else DEFAULT_VERSION
