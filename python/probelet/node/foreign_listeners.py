"""Finds the probes that another pod answers, on a runtime whose pods share the machine's network.

A pod has a loopback address of its own there, but a server of its neighbour that listens on 0.0.0.0 answers at it too.
Such an answer counts as a refused connection, and the pod says why.

The engine asks before it counts an answer: the first one after a container of the pod has started, and after every one
that was foreign. The runtime knows which process listens; one look at the machine covers all pods, and a look every ten
seconds finds a pod whose own server has gone since. The probes of a pod that answers by itself are never looked at.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

import msgspec
import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.base.printable import one_line
from probelet.policy import messages
from probelet.policy.rules.kind import containers
from probelet.policy.rules.probed_ports import probed_ports
from probelet.runtime.cri import errors
from probelet.runtime.embedded.listening.report import FOREIGN_LISTENERS, ForeignListener, decode
from probelet.runtime.host import RuntimeHost
from probelet.server.document.status import ForeignListenerDocument
from probelet.spec.model.pod import Pod

LOOK_NS: Final = 10_000_000_000
"""The longest time between two looks."""

PAUSE_NS: Final = 50_000_000
"""The shortest time between two looks: beyond it, answers wait for the next one together."""

_Target = tuple[str, int]
"""A pod's address, and a port."""

log = structlog.get_logger("probelet.node")


class ForeignListeners:
    """``run`` looks until it is cancelled; the other methods only note what it is to do."""

    def __init__(self, host: RuntimeHost) -> None:
        self._client = host.client
        self._engine = host.engine
        self._recorder = host.recorder
        self._timers = host.timers
        host.batches.on_answers = self._queue
        # Each address has one pod, and each pod at most one address.
        self._pods: dict[str, Pod] = {}
        self._addresses: dict[str, str] = {}
        # By address and port.
        self._found: dict[str, dict[int, ForeignListener]] = {}
        self._answers: list[tuple[int, str, int]] = []
        self._answered = asyncio.Event()
        self._unseen = PacedLog(log.warning, "it cannot be found out which pod answers a probe", host.timers.seconds)

    def doubt(self, pod: Pod, ip: str) -> None:
        """A container of the pod starts: who answers at its address is unknown again."""
        # A pod on the node's network has the node's address.
        if not ip or pod.spec.host_network:
            return
        uid = pod.metadata.uid
        if self._addresses.get(uid) != ip:
            self.forget(uid)
            if (earlier := self._pods.get(ip)) is not None:
                del self._addresses[earlier.metadata.uid]
        self._pods[ip], self._addresses[uid] = pod, ip
        ports = set().union(*(probed_ports(container, ip) for _, container in containers(pod)))
        self._engine.doubt(ip, sorted(ports))

    def forget(self, uid: str) -> None:
        """The pod has gone, or has got another address."""
        ip = self._addresses.pop(uid, None)
        if ip is not None:
            del self._pods[ip]
            self._found.pop(ip, None)
            self._engine.forget_doubts(ip)

    def _queue(self, answers: list[tuple[int, str, int]]) -> None:
        """Answers of the engine's batch that wait for a word."""
        if answers:
            self._answers += answers
            self._answered.set()

    def of(self, uid: str) -> list[ForeignListenerDocument]:
        """The foreign listeners that answered the last probes of a pod, for its status."""
        return [
            {
                "port": port,
                "listener": found.listener,
                "pod": found.pod,
                "container": found.container,
                "pid": found.pid,
                "program": found.program,
            }
            for port, found in sorted(self._found.get(self._addresses.get(uid, ""), {}).items())
        ]

    async def run(self) -> None:
        """Looks whenever an answer waits, and every ten seconds."""
        while True:
            await self._answer_or_time()
            self._answered.clear()
            answers, self._answers = self._answers, []
            if not self._pods:
                continue
            try:
                status = await self._client.status(verbose=True)
                found = decode(status.info.get(FOREIGN_LISTENERS, "{}"))
            except (errors.CriError, msgspec.MsgspecError) as error:
                for number, _, _ in answers:
                    self._engine.judge(number, "unknown", str(error))
                self._unseen(error=str(error))
            else:
                self._judge(answers, found)
            await self._timers.sleep(PAUSE_NS)

    async def _answer_or_time(self) -> None:
        timer = self._timers.arm(self._timers.now() + LOOK_NS, self._answered.set)
        try:
            await self._answered.wait()
        finally:
            self._timers.cancel(timer)

    def _judge(self, answers: list[tuple[int, str, int]], found: Mapping[str, ForeignListener]) -> None:
        by_target = {(ip, port): found.get(f"{ip}:{port}") for _, ip, port in answers}
        for target, foreign in by_target.items():
            self._note(target, foreign)
        for number, ip, port in answers:
            answered_by = by_target[ip, port]
            if answered_by is None:
                self._engine.judge(number, "own")
            else:
                self._engine.judge(number, "foreign", _owner(answered_by))
        answered = {f"{ip}:{port}" for ip, port in by_target}
        for ip, ports in list(self._found.items()):
            for port in [port for port in ports if f"{ip}:{port}" not in found]:
                self._note((ip, port), None)
        for text in found:
            ip, _, number_text = text.rpartition(":")
            if ip in self._pods and text not in answered:
                self._engine.doubt(ip, [int(number_text)])

    def _note(self, target: _Target, foreign: ForeignListener | None) -> None:
        """The pod says once who answers in its place."""
        ip, port = target
        pod, ports = self._pods.get(ip), self._found.setdefault(ip, {})
        known = ports.pop(port, None)
        if pod is None or foreign is None:
            if not ports:
                del self._found[ip]
            return
        ports[port] = foreign
        if known is not None and (known.listener, known.pod, known.pid) == (foreign.listener, foreign.pod, foreign.pid):
            return
        owner = _owner(foreign)
        text = messages.port_conflict(ip, port, owner)
        self._recorder.record(pod.metadata.uid, pod.full_name, "Warning", messages.PORT_CONFLICT, text)
        log.warning("another program answers a probe", pod=pod.full_name, port=port, by=owner)


def _owner(foreign: ForeignListener) -> str:
    """Whose the listener is, in words."""
    if foreign.pod:
        return f"container {foreign.container} of pod {foreign.pod} listens on {foreign.listener}"
    named = f"{one_line(foreign.program)}, process {foreign.pid}," if foreign.pid else "which is not of this user,"
    return f"a program outside of the pods, {named} listens on {foreign.listener}"
