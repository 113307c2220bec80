"""Where the logs of a pod are, below a root directory such as ``/var/log/pods``: the kubelet's names, 1.36.

``<namespace>_<name>_<uid>/<container>/<restart count>.log``, and beside a log its rotated parts,
``<restart count>.log.<time>`` or, compressed, ``<restart count>.log.<time>.gz``.
"""

import re
from typing import Final, NamedTuple

_DIRECTORY: Final = re.compile(r"(?P<namespace>[^_]+)_(?P<name>[^_]+)_(?P<uid>[^_]+)")
_LOG: Final = re.compile(r"(?P<count>[0-9]{1,10})\.log")


class PodDirectory(NamedTuple):
    """The pod whose logs a directory has."""

    namespace: str
    name: str
    uid: str

    @property
    def full_name(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"


def log_directory_of(namespace: str, name: str, uid: str) -> str:
    """The name of the directory of a pod's logs (kubelet ``BuildPodLogsDirectory``)."""
    return f"{namespace}_{name}_{uid}"


def pod_of_directory(directory: str) -> PodDirectory | None:
    """The reverse of ``log_directory_of``; None for another name."""
    found = _DIRECTORY.fullmatch(directory)
    return None if found is None else PodDirectory(found["namespace"], found["name"], found["uid"])


def log_name(restart_count: int) -> str:
    """The name of the log of one instance, in the directory of its container."""
    return f"{restart_count}.log"


def restart_counts(names: list[str]) -> list[int]:
    """The instances with a log, or a rotated part of one, among the names in a container's directory; ascending."""
    found = (_LOG.match(name) for name in names)
    return sorted({int(match["count"]) for match in found if match is not None})
