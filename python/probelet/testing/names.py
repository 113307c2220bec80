"""How a test calls the pods of a node, their containers and their probes."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from probelet.errors import AnswerError
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.virtual.argument import check_type

T = TypeVar("T")

KNOWN_MAX: Final = 20
"""The names that a message about an unknown one lists."""


class ProbeName(NamedTuple):
    """One probe."""

    uid: str
    container: str
    probe_type: ProbeType
    script: str
    """The key of ``Simulation.script``."""
    timeout_ms: int
    """Its ``timeoutSeconds``."""


class Names:
    """The names of pods. A pod is called by its name, or by ``namespace/name``; by the latter only where pods of two
    namespaces have the same name. Its containers are ``pod/container``, and their probes ``pod/container/type``.

    The look-ups raise ``AnswerError`` for an unknown name.
    """

    def __init__(self, pods: Sequence[Pod]) -> None:
        count = Counter(pod.metadata.name for pod in pods)
        self._shown: dict[str, str] = {}
        self._pods = _Table[str]("pod")
        self._containers = _Table[tuple[str, str]]("container")
        self._probes = _Table[ProbeName]("probe")
        for pod in pods:
            uid, full = pod.metadata.uid, pod.full_name
            shown = self._shown[uid] = pod.metadata.name if count[pod.metadata.name] == 1 else full
            self._pods.add(shown, full, "", uid)
            for container in containers(pod):
                self._containers.add(shown, full, f"/{container.name}", (uid, container.name))
                self._add_probes(pod, container)

    def rename(self, pod: Pod) -> None:
        """Knows the containers and probes of a pod that has changed; its former names stay known."""
        uid = pod.metadata.uid
        for container in containers(pod):
            self._containers.add(self._shown[uid], pod.full_name, f"/{container.name}", (uid, container.name))
            self._add_probes(pod, container)

    def _add_probes(self, pod: Pod, container: Container) -> None:
        uid, full = pod.metadata.uid, pod.full_name
        for probe_type, probe in container.probes.items():
            rest = f"/{container.name}/{probe_type}"
            named = ProbeName(uid, container.name, probe_type, full + rest, probe.timeout_seconds * 1_000)
            self._probes.add(self._shown[uid], full, rest, named)

    def shown(self, uid: str) -> str:
        """The name of a pod in everything that a node returns."""
        return self._shown[uid]

    def pod(self, name: str) -> str:
        """The UID of a pod."""
        return self._pods.find(name)

    def container(self, name: str) -> tuple[str, str]:
        """The UID of a container's pod, and the container's own name."""
        return self._containers.find(name)

    def probe(self, name: str) -> ProbeName:
        """A probe."""
        return self._probes.find(name)


class _Table(Generic[T]):
    """The objects for which names stand. Each entry has two names, of which messages list the first one."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._values: dict[str, T] = {}
        self._shown: list[str] = []

    def add(self, shown: str, full: str, rest: str, value: T) -> None:
        if shown + rest not in self._values:
            self._shown.append(shown + rest)
        self._values[shown + rest] = self._values[full + rest] = value

    def find(self, name: str) -> T:
        __tracebackhide__ = True
        check_type(self._what, name, str)
        if name not in self._values:
            listed = self._shown[:KNOWN_MAX]
            if hidden := len(self._shown) - len(listed):
                listed.append(f"{hidden} more")
            raise AnswerError(f"{name!r}: no such {self._what}; there are {', '.join(listed) or 'none'}")
        return self._values[name]


def containers(pod: Pod) -> list[Container]:
    """The containers and init containers of a pod."""
    return [*pod.spec.containers, *pod.spec.init_containers]
