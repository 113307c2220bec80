"""Variables from ConfigMaps and Secrets (kubelet kubelet_pods.go:makeEnvironmentVariables, 1.36).

The words of an object that is missing are the API server's, those of a missing key the kubelet's.
"""

from collections.abc import Iterator

from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.spec.model.env import EnvFromSource, EnvSource, KeySelector
from probelet.spec.objects.config_object import ConfigObject, Kind, Objects


def variables_from(source: EnvFromSource, namespace: str, objects: Objects) -> Iterator[tuple[str, str]]:
    """Every key of an object with its value. Raises ContainerConfigError for an object that must be there."""
    references: tuple[tuple[Kind, EnvSource | None], ...] = (
        ("ConfigMap", source.config_map_ref),
        ("Secret", source.secret_ref),
    )
    kind, reference = next((kind, reference) for kind, reference in references if reference is not None)
    found = _object(kind, namespace, reference, objects)
    if found is not None:
        for key, value in found.data.items():
            yield f"{source.prefix}{key}", text_of(value)


def value_of(kind: Kind, selector: KeySelector, namespace: str, objects: Objects) -> str | None:
    """The value of one key; None if it is optional and not there. Raises ContainerConfigError if it must be there."""
    found = _object(kind, namespace, selector, objects)
    if found is None:
        return None
    value = found.data.get(selector.key)
    if value is not None:
        return text_of(value)
    if selector.optional:
        return None
    raise ContainerConfigError(f"couldn't find key {selector.key} in {kind} {namespace}/{selector.name}")


def text_of(value: bytes) -> str:
    """A value may be any bytes: bytes outside UTF-8 become surrogates, which ``bytes_of`` turns back."""
    return value.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The bytes of a variable."""
    return text.encode("utf-8", "surrogateescape")


def _object(
    kind: Kind, namespace: str, reference: EnvSource | KeySelector | None, objects: Objects
) -> ConfigObject | None:
    assert reference is not None, "validation requires one of the two"
    found = objects.get((kind, namespace, reference.name))
    if found is None and not reference.optional:
        raise ContainerConfigError(f'{kind.lower()} "{reference.name}" not found')
    return found
