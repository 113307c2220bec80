"""The logs of one pod: its containers, and which instance of a container a reader gets.

The choice and its words are those of ``kubectl logs`` and of the kubelet behind it: kubectl
pkg/polymorphichelpers/logsforobject.go, kubelet.go:validateContainerLogStatus, 1.36.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from probelet.base.logs.layout import PodDirectory, log_directory_of
from probelet.errors import ProbeletError

DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
"""The annotation that names the container whose log is asked for most."""

_IMAGE_REASONS: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class UnknownContainerError(ProbeletError):
    """The pod has no container of that name; the message is one line."""


class NoLogError(ProbeletError):
    """The container has no such log, or none yet; the message is one line."""


class ContainerLogs(msgspec.Struct, frozen=True):
    """A container and its state; ``state`` is empty if no service tells it."""

    name: str
    kind: str = "regular"
    state: str = ""
    reason: str = ""
    restart_count: int = 0
    has_exited: bool = False
    """True if an earlier instance has ended."""


class PodLogs(msgspec.Struct, frozen=True):
    """The logs of a pod, below ``root``."""

    root: Path
    pod: PodDirectory
    containers: tuple[ContainerLogs, ...]
    default_container: str = ""

    @property
    def directory(self) -> str:
        """The name of the pod's directory below ``root``."""
        return log_directory_of(*self.pod)

    def choose(self, name: str | None) -> tuple[ContainerLogs, str]:
        """The container ``name``, or the default one, and a note about the choice, empty if there is none to make.

        Raises UnknownContainerError.
        """
        note = ""
        if name is None and self.default_container:
            if self._named(self.default_container) is not None:
                name = self.default_container
            else:
                note = f'Default container name "{self.default_container}" not found in pod {self.pod.name}\n'
        if name is None:
            regular = [container for container in self.containers if container.kind == "regular"] or self.containers
            if not regular:
                raise UnknownContainerError(f"pod {self.pod.name} has no logs")
            if len(self.containers) > 1:
                note += f'Defaulted container "{regular[0].name}" out of: {self._all_names()}'
            return regular[0], note.strip()
        found = self._named(name)
        if found is None:
            raise UnknownContainerError(
                f"container {name} is not valid for pod {self.pod.name} out of: {self._all_names()}"
            )
        return found, ""

    def instance(self, container: ContainerLogs, counts: Sequence[int], *, previous: bool) -> int:
        """The restart count of the instance to read. ``counts`` are the instances with a log, ascending.

        Raises NoLogError.
        """
        quoted = f'container "{container.name}" in pod "{self.pod.name}"'
        waits = container.state == "waiting"
        if waits and not container.has_exited and not previous:
            why = _IMAGE_REASONS.get(container.reason, container.reason)
            raise NoLogError(f"{quoted} is waiting to start: {why}")
        # A container that waits for a restart has no instance but the one that ended.
        newest = container.restart_count if container.state and not waits else max(counts, default=0)
        if not previous or (waits and container.has_exited):
            return newest
        if (container.state and not container.has_exited) or not (older := [it for it in counts if it < newest]):
            raise NoLogError(f"previous terminated {quoted} not found")
        return older[-1]

    def _named(self, name: str) -> ContainerLogs | None:
        return next((container for container in self.containers if container.name == name), None)

    def _all_names(self) -> str:
        regular = [it.name for it in self.containers if it.kind == "regular"]
        return ", ".join([*regular, *(f"{it.name} (init)" for it in self.containers if it.kind != "regular")])


def read_document(document: dict[str, Any]) -> PodLogs:
    """The logs that a ``probelet-logs/1`` document is about. Raises KeyError and TypeError for another document."""
    containers = tuple(
        ContainerLogs(
            name=str(row["name"]),
            kind=str(row["kind"]),
            state=str(row.get("state", "")),
            reason=str(row.get("reason", "")),
            restart_count=int(row.get("restart_count", 0)),
            has_exited=bool(row.get("has_exited")),
        )
        for row in document["containers"]
    )
    pod = PodDirectory(str(document["namespace"]), str(document["name"]), str(document["uid"]))
    return PodLogs(Path(str(document["root"])), pod, containers, str(document.get("default_container", "")))
