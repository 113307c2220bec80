"""Image names, ``[REGISTRY/]PATH[:TAG][@DIGEST]``, parsed as the kubelet parses them.

The grammar is github.com/distribution/reference as Kubernetes 1.36 uses it (pkg/util/parsers and
pkg/kubelet/images/image_manager.go:applyDefaultImageTag).
"""

import re
from typing import Final, Literal, TypeAlias

from probelet.errors import ProbeletError

PullPolicy: TypeAlias = Literal["Always", "IfNotPresent", "Never"]

DEFAULT_TAG: Final = "latest"
DEFAULT_REGISTRY: Final = "docker.io"
PATH_LENGTH_MAX: Final = 255

_COMPONENT = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REGISTRY = rf"(?:{_COMPONENT}(?:\.{_COMPONENT})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_WORD = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:(?P<registry>{_REGISTRY})/)(?P<path>{_WORD}(?:/{_WORD})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
)
_HEXADECIMAL = re.compile(r"[a-f0-9]{64}")


class ImageNameError(ProbeletError, ValueError):
    """The image name is malformed; the message is Go's."""


def with_tag(image: str) -> str:
    """``image`` with ``:latest`` if it has neither a tag nor a digest; adds no registry.

    Raises:
        ImageNameError: ``image`` is malformed.
    """
    found = _parse(image)
    return image if found["tag"] or found["digest"] else f"{image}:{DEFAULT_TAG}"


def default_pull_policy(image: str) -> PullPolicy:
    """``Always`` for ``:latest`` and for a missing tag, else ``IfNotPresent`` (``SetDefaults_Container``, 1.36)."""
    try:
        found = _parse(image)
    except ImageNameError:
        return "IfNotPresent"
    moving = found["tag"] == DEFAULT_TAG or not (found["tag"] or found["digest"])
    return "Always" if moving else "IfNotPresent"


def _parse(image: str) -> re.Match[str]:
    if _HEXADECIMAL.fullmatch(image):
        raise ImageNameError(f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings")
    registry, rest = _split(image)
    path = rest.partition(":")[0]
    if path != path.lower():
        raise ImageNameError(f"invalid reference format: repository name ({path}) must be lowercase")
    found = _REFERENCE.fullmatch(f"{registry}/{rest}")
    if found is None:
        raise ImageNameError("invalid reference format")
    if len(found["path"]) > PATH_LENGTH_MAX:
        raise ImageNameError(f"repository name must not be more than {PATH_LENGTH_MAX} characters")
    return found


def _split(image: str) -> tuple[str, str]:
    """Splits off the registry; a first part that cannot be a host belongs to a path of the default registry."""
    first, slash, rest = image.partition("/")
    is_host = any(mark in first for mark in ".:") or first == "localhost" or first != first.lower()
    registry, rest = (first, rest) if slash and is_host else (DEFAULT_REGISTRY, image)
    if registry == DEFAULT_REGISTRY and "/" not in rest:
        rest = f"library/{rest}"
    return registry, rest
