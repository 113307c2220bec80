"""The liveness kills of a node for tests that wait: what the node knows of its pods, and of the attempts of a script.

A pod's annotation and the host of a probe name what several workloads share. The words of a command are not read.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from probelet.errors import AnswerError
from probelet.host.incidents.watch import TURNS_OF_A_RUN
from probelet.policy.incidents import ProbeKey, Turn
from probelet.policy.incidents.subjects import asks_of, subjects
from probelet.policy.node.kill_gate import HoldOptions, KillGate
from probelet.policy.rules.kind import containers
from probelet.spec.annotation.hold_kills import ANNOTATION, CHOICES, HoldChoice, hold_choice
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import DurationError, parse_duration
from probelet.virtual.agenda import Agenda
from probelet.virtual.argument import check_type
from probelet.virtual.holding import NodeHolding

NODE: Final = "node"
"""The node's name in incidents."""
TRIES: Final = 3
"""How often a prober asks that could not ask (prober.go:maxProbeRetries, 1.36); the last try is the attempt."""

Line: TypeAlias = dict[str, Any]

_CAUSES: Final[dict[str, dict[str, str]]] = {
    "failure": {"exec": "exec_exit", "http_get": "status", "tcp_socket": "refused", "grpc": "grpc_status"},
    "timeout": {
        "exec": "exec_timeout",
        "http_get": "header_timeout",
        "tcp_socket": "connect_timeout",
        "grpc": "header_timeout",
    },
    "error": dict.fromkeys(("exec", "http_get", "tcp_socket", "grpc"), "request"),
}
"""The cause that an answer stands for, by the probe's handler."""


class HeldKills:
    """Watches the pods of a node. ``on_kill`` gets the UID and the container of a liveness kill that goes on."""

    def __init__(
        self, agenda: Agenda, options: HoldOptions, manifests: Iterable[Manifest], on_kill: Callable[[str, str], None]
    ) -> None:
        self._holding = NodeHolding(agenda, options, on_kill)
        self._bad: Counter[ProbeKey] = Counter()
        self._probes: dict[ProbeKey, Probe] = {}
        self._versions: Counter[str] = Counter()
        for manifest in manifests:
            self.know(manifest, manifest.pod)

    @property
    def gate(self) -> KillGate:
        """The gate in front of liveness kills."""
        return self._holding.gate

    def know(self, manifest: Manifest, pod: Pod) -> None:
        """There is a pod, or it has another manifest."""
        uid, made_by = pod.metadata.uid, manifest.object
        workload = "" if made_by is None or made_by.kind == "Pod" else f"{made_by.kind}/{made_by.name}"
        self._versions[uid] += 1
        for _, container in containers(pod):
            for probe_type, probe in container.probes.items():
                self._probes[ProbeKey(uid, container.name, probe_type)] = probe
        asks = asks_of(pod, lambda container, command: ())
        self._holding.know(subjects(pod, NODE, workload, asks), self._versions[uid])

    def attempt(self, line: Line) -> None:
        """An attempt of a script ended; the detector gets the attempts that a live engine tells of."""
        key, is_good = ProbeKey(line["pod_uid"], line["container"], line["type"]), line["outcome"] == "success"
        if line["outcome"] == "error" and line["attempt"] < TRIES:
            return
        bad = self._bad[key]
        is_first = key not in self._bad
        self._bad[key] = 0 if is_good else bad + 1
        if (is_good and (bad or is_first)) or (not is_good and bad < TURNS_OF_A_RUN):
            cause = "ok" if is_good else _CAUSES[line["outcome"]][_handler(self._probes[key])]
            self._holding.turn(
                Turn(key.pod_uid, key.container, key.probe_type, line["end_ms"], is_good, cause, 0.0, 0.0, "")
            )

    def killed(self, uid: str, container: str) -> None:
        """The verdict of a startup probe has a container killed."""
        self._holding.killed(uid, container)

    def crashed(self, uid: str, container: str) -> None:
        """A container ends by itself."""
        self._holding.ended(uid, container)

    def stopped(self, uid: str, container: str) -> None:
        """A container has ended, for whatever reason."""
        self._holding.stopped(uid, container)


def asks_to_hold(pod: Pod) -> bool:
    """Whether a pod's annotation lets its kills wait."""
    return hold_choice(pod)[0] not in (None, "off")


def hold_options(choice: HoldChoice, most: str) -> HoldOptions:
    """Reads the arguments of a node.

    Raises:
        AnswerError: one of them is impossible.
        TypeError: one of them is no text.
    """
    __tracebackhide__ = True
    check_type("hold_kills", choice, str, meant='"shared"')
    if choice not in CHOICES:
        raise AnswerError(f"hold_kills: {choice!r}: must be one of {', '.join(CHOICES)}")
    check_type("hold_kills_for", most, str, meant='"5m"')
    try:
        most_ns = parse_duration(most)
    except DurationError as error:
        raise AnswerError(f"hold_kills_for: {error}") from error
    if most_ns <= 0:
        raise AnswerError(f"hold_kills_for: {most!r}: must be more than 0")
    return HoldOptions(choice, most_ns)


def refuse_late(pod: Pod) -> None:
    """Refuse an annotation that comes when the node has begun without a gate.

    Raises:
        AnswerError: the pod's annotation lets its kills wait.
    """
    __tracebackhide__ = True
    if asks_to_hold(pod):
        choice = pod.metadata.annotations[ANNOTATION]
        raise AnswerError(
            f"{pod.full_name}: metadata.annotations[{ANNOTATION}]: {choice!r}: comes too late; make the node with "
            "hold_kills, or with a pod that asks for it"
        )


def _handler(probe: Probe) -> str:
    return next(name for name in _CAUSES["failure"] if getattr(probe, name) is not None)
