"""A container's variables, command and arguments, with ``$(VAR)`` expanded.

Kubelet pkg/kubelet/kubelet_pods.go:makeEnvironmentVariables, container/helpers.go:ExpandContainerCommandAndArgs and
third_party/forked/golang/expansion, 1.36.
"""

import errno
import os
from typing import Final

from probelet._rust import expand
from probelet.errors import InvalidInputError
from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.environment.downward import field_value, resource_value
from probelet.node.effects.environment.place import Place
from probelet.node.effects.environment.references import value_of, variables_from
from probelet.spec.model.container import Container
from probelet.spec.model.env import EnvVarSource
from probelet.spec.model.pod import Pod

PROGRAM_BYTES_MAX: Final = 6 * 1024 * 1024
"""The arguments and variables of a program: Linux passes no more, whatever the limit of its stack (execve(2))."""


def environment(pod: Pod, container: Container, place: Place) -> dict[str, str]:
    """The variables of a container's manifest: those of ``envFrom``, then those of ``env``, of which the last value of
    a name counts. Bytes that are no UTF-8 are surrogates (``references.text_of``).

    A reference means a variable listed before it, else a given one. A variable that is optional and not there, or comes
    from a volume, is left unset. Raises ContainerConfigError for an object or a key that must be there, and OSError for
    more than a program can have.
    """
    variables: dict[str, str] = {}
    size = 0
    for source in container.env_from:
        for name, value in variables_from(source, pod.metadata.namespace, place.objects):
            variables[name] = value
            size = _checked(size + len(value))
    known = {**place.given, **variables}
    for entry in container.env:
        if entry.value or entry.value_from is None:
            found: str | None = _expand(entry.value, known)
        else:
            found = _sourced(entry.value_from, pod, container, place)
        if found is not None:
            variables[entry.name] = known[entry.name] = found
            size = _checked(size + len(found))
    return variables


def _sourced(source: EnvVarSource, pod: Pod, container: Container, place: Place) -> str | None:
    namespace = pod.metadata.namespace
    if source.field_ref is not None:
        return field_value(source.field_ref.field_path, pod, place)
    if source.resource_field_ref is not None:
        return resource_value(source.resource_field_ref, pod, container, place)
    if source.config_map_key_ref is not None:
        return value_of("ConfigMap", source.config_map_key_ref, namespace, place.objects)
    if source.secret_key_ref is not None:
        return value_of("Secret", source.secret_key_ref, namespace, place.objects)
    # A file in a volume: no volume is mounted, which the summary of ignored fields says.
    return None


def expanded(texts: list[str], variables: dict[str, str]) -> list[str]:
    """A command, or its arguments, with every text expanded. Raises ContainerConfigError for a reference to bytes that
    are no text, and OSError for more than a program can have."""
    found, size = [], 0
    for text in texts:
        found.append(_expand(text, variables))
        size = _checked(size + len(found[-1]))
    return found


def _expand(text: str, variables: dict[str, str]) -> str:
    try:
        return expand(text, variables)
    except InvalidInputError as error:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG)) from error
    except UnicodeEncodeError:
        # The error's own text would have a part of the value.
        raise ContainerConfigError("a reference names a variable whose value is not UTF-8") from None


def _checked(size: int) -> int:
    """Variables that name each other can ask for more than a machine has: the answer is the system's own."""
    if size > PROGRAM_BYTES_MAX:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
    return size
