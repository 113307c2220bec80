"""A node in virtual time: pods from manifests, answers from a script, hours in milliseconds."""

import re
from typing import Literal

import msgspec
from msgspec.structs import replace

from probelet._rust import Simulation
from probelet.errors import AnswerError
from probelet.policy.glue.status_layer import status_of, status_rows
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.actions import Publish, Record
from probelet.policy.protocol.inputs import Change, Release
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.annotation.probe_changes import takes_changes
from probelet.spec.text.duration import MILLISECOND, SECOND, format_duration
from probelet.testing.history import TIMELINE_MAX, History
from probelet.testing.holding import HeldKills, asks_to_hold, hold_options, refuse_late
from probelet.testing.names import Names
from probelet.testing.outcome import milliseconds, step
from probelet.testing.record import Attempt, Event, Kill, Transition
from probelet.testing.workload import SteadyWorkload
from probelet.virtual.agenda import Agenda
from probelet.virtual.argument import check_type
from probelet.virtual.manifests import Manifests, read
from probelet.virtual.node import SimulatedNode
from probelet.virtual.pod import VirtualPod
from probelet.virtual.prober import Line, SimulatedProber

SHOWN_MAX = 3
"""The pods that a node's ``repr`` shows; it is one line in an assertion's message."""
EXIT_CODE_MAX = 255


class VirtualNode:
    """Pods under the production prober, policy and restart back-off, on a modelled runtime. They start at t = 0.

    A manifest holds pods, or workloads with a pod template: the template is one pod with the workload's name.

    A worker without a script succeeds at once, whatever its handler is: nothing is ever asked outside. A container that
    is killed has its preStop hook and its grace; it ends `kill` after SIGTERM, or when its grace is over. It runs again
    when the kubelet would run it again: at once, then after 10 s, 20 s and so on. Durations are written as in Go, such
    as `1m30s`. Names are `pod`, `pod/container` and `pod/container/type`, each with `namespace/` before it where pods
    of two namespaces have the same name.

    Args:
        manifests: a file or a directory, a text in YAML or JSON, an object (`{"kind": "Pod", ...}`), or a list of them.
            A `str` is a text if it has a line break or begins with `{`, else a path.
        kubelet_version: the release whose rules for probes apply, `1.34` to `1.38`.
        kill: how long a container runs on after SIGTERM.
        hold_kills: which liveness kills wait while an incident is open that a restart does not mend: `off`, `prober` or
            `shared`. The annotation `probelet.dev/hold-kills` of a pod goes first. What several workloads share has a
            name by the annotation `probelet.dev/depends-on`, or by the host of a probe.
        hold_kills_for: how long such a kill waits at most.
        restart: every restart comes this long after the container's end; there is no back-off. None: as the kubelet.
        replicas: a workload has as many pods as it asks for: `web-0`, `web-1` and so on.
        seed: of the jitter of first probes.
        strict: a warning about a manifest, such as an unknown field, is a mistake. False takes such manifests.

    Raises:
        ManifestError: a manifest has a mistake (one line each), or there is no pod.
        AnswerError: a duration cannot be read, or is negative; `hold_kills` is no such word.
        TypeError: an argument has a wrong type.
        InvalidInputError: `kubelet_version` is not known.
    """

    def __init__(
        self,
        *manifests: Manifests,
        kubelet_version: str = "1.36",
        kill: str = "2s",
        restart: str | None = None,
        hold_kills: HoldChoice = "off",
        hold_kills_for: str = "5m",
        replicas: bool = False,
        seed: int = 0,
        strict: bool = True,
    ) -> None:
        __tracebackhide__ = True
        check_type("replicas", replicas, bool, meant="True for as many pods as each workload asks for")
        check_type("seed", seed, int)
        check_type("kubelet_version", kubelet_version, str, meant='"1.36"')
        kill_ms = milliseconds(kill, "kill")
        gate = _gate(restart)
        hold = hold_options(hold_kills, hold_kills_for)
        found = read(manifests, strict=strict, replicas=replicas)
        pods = [manifest.pod for manifest in found]
        self._history = History()
        self._names = Names(pods)
        self._strict, self._replicas = strict, replicas
        self._simulation = Simulation(seed=seed, kubelet_version=kubelet_version)
        agenda = Agenda()
        self._held: HeldKills | None = None
        if hold.choice != "off" or any(map(asks_to_hold, pods)):
            self._held = HeldKills(agenda, hold, found, self._goes_on)
        self._node = SimulatedNode(
            SimulatedProber(self._simulation, self._recorded),
            gate,
            SteadyWorkload(kill_ms * MILLISECOND, self._stopped),
            self._published,
            self._event,
            agenda,
            None if self._held is None else self._held.gate,
        )
        for pod in pods:
            self._node.add(pod)

    def __repr__(self) -> str:
        """Time, and what has become of the first pods. It lets nothing happen."""
        pods = list(self._node.pods.values())
        shown = [self._summary(pod) for pod in pods[:SHOWN_MAX]]
        if hidden := len(pods) - len(shown):
            shown.append(f"{hidden} more pods")
        return f"<VirtualNode at {format_duration(self._node.agenda.now)}: {', '.join(shown)}>"

    @property
    def now(self) -> float:
        """Seconds since t = 0."""
        return self._node.agenda.now / SECOND

    @property
    def attempts(self) -> list[Attempt]:
        """Every attempt of a probe, in the order in which they ended."""
        return self._history.attempts

    @property
    def events(self) -> list[Event]:
        """Every event, oldest first: those of probes (`Unhealthy`, `ProbeWarning`) and those of containers (`Created`,
        `Started`, `Killing`, `BackOff` ...)."""
        return self._history.events

    @property
    def kills(self) -> list[Kill]:
        """Every verdict of a probe that had a container killed, oldest first."""
        return self._history.kills

    @property
    def transitions(self) -> list[Transition]:
        """Every change of a pod's condition Ready, and of `state`, `started` and `ready` of a container, oldest first.

        Before its first change a pod is not ready, and a container is waiting, neither started nor ready.
        """
        return self._history.transitions

    @property
    def workers(self) -> list[str]:
        """Every live worker, `pod/container/type`."""
        rows = msgspec.json.decode(self._simulation.metrics())
        return sorted(
            f"{self._names.shown(row['pod_uid'])}/{row['container']}/{row['probe_type'].lower()}" for row in rows
        )

    def timeline(self, last: int = TIMELINE_MAX) -> str:
        """Describes the run, for the message of an assertion: events, kills and changes of status, one line each.

        The latest `last` lines, oldest first. `assert node.kills == [], node.timeline()`
        """
        check_type("last", last, int)
        return self._history.timeline(last)

    def answer(self, worker: str, *answers: str) -> None:
        """Script the attempts of `pod/container/type`; the last answer repeats for ever.

        An answer is `success`, `failure`, `error`, `timeout` or `hang`, then a duration, a `: text` or a `* N`. An
        answer that takes as long as the probe's timeout, or longer, is a timeout.

        Raises:
            AnswerError: an answer cannot be read or contradicts itself, or there is no such probe.
        """
        __tracebackhide__ = True
        probe = self._names.probe(worker)
        if not answers:
            raise AnswerError(f"{worker!r}: give it at least one answer, such as success")
        steps = [step(answer, probe.timeout_ms) for answer in answers]
        self._simulation.script(probe.script, msgspec.json.encode(steps))

    def run(self, duration: str) -> None:
        """Let virtual time go by. The first run starts the pods, so scripts come before it.

        Raises:
            AnswerError: the duration cannot be read, or is negative.
        """
        __tracebackhide__ = True
        self._node.run_until(self._node.agenda.now + milliseconds(duration) * MILLISECOND)

    def change(self, *manifests: Manifests) -> None:
        """Other manifests for pods that are there. As on a node, a container with another image restarts, and the
        probes of a pod with the annotation `probelet.dev/probe-changes: live` change while its containers run; what was
        counted stays. All else holds from a container's next start on.

        Raises:
            ManifestError: a manifest has a mistake, or there is no pod.
            AnswerError: there is no pod of that name, or its annotation lets kills wait and no pod did before.
        """
        __tracebackhide__ = True
        self._catch_up()
        for manifest in read(manifests, strict=self._strict, replicas=self._replicas):
            pod = manifest.pod
            uid = self._names.pod(pod.full_name)
            changed = replace(pod, metadata=replace(pod.metadata, uid=uid))
            if self._held is None:
                refuse_late(changed)
            else:
                self._held.know(manifest, changed)
            self._names.rename(changed)
            self._node.pods[uid].handle(Change(changed, live=takes_changes(changed)))
        self._catch_up()

    def crash(self, container: str, exit_code: int = 1) -> None:
        """End the container `pod/container` by itself. It runs again when its restart policy and back-off allow.

        Raises:
            AnswerError: there is no such container, or no process ends with this exit code.
        """
        __tracebackhide__ = True
        check_type("exit_code", exit_code, int)
        if not 0 <= exit_code <= EXIT_CODE_MAX:
            raise AnswerError(f"exit_code: {exit_code}: must be from 0 to {EXIT_CODE_MAX}")
        pod, name = self._find(container)
        if self._held is not None:
            self._held.crashed(pod.uid, name)
        pod.exit(_id(pod, name), exit_code)
        self._catch_up()

    def start(self, container: str) -> None:
        """Run the container `pod/container` now if it waits for its restart, as `probelet retry` does.

        Raises:
            AnswerError: there is no such container.
        """
        pod, name = self._find(container)
        pod.handle(Release((name,)))
        self._catch_up()

    def restarts(self, container: str) -> int:
        """How often the container `pod/container` was started again.

        Raises:
            AnswerError: there is no such container.
        """
        pod, name = self._find(container)
        newest = pod.runtime.snapshot.newest(name)
        return 0 if newest is None else newest.restart_count

    def ready(self, pod: str) -> bool:
        """Condition Ready of a pod.

        Raises:
            AnswerError: there is no such pod.
        """
        uid = self._names.pod(pod)
        self._catch_up()
        return bool(status_of(self._simulation, uid).get("ready"))

    def started(self, container: str) -> bool:
        """`started` of the container `pod/container`.

        Raises:
            AnswerError: there is no such container.
        """
        pod, name = self._find(container)
        return bool(status_rows(status_of(self._simulation, pod.uid))[name]["started"])

    def result(self, worker: str) -> Literal["Success", "Failure", "Unknown"] | None:
        """The published result of `pod/container/type`; None if there is none.

        Raises:
            AnswerError: there is no such probe.
        """
        probe = self._names.probe(worker)
        self._catch_up()
        return self._simulation.result(probe.probe_type, _id(self._node.pods[probe.uid], probe.container))

    def _catch_up(self) -> None:
        """Let everything happen that is due at this moment; the first time this starts the pods."""
        self._node.run_until(self._node.agenda.now)

    def _find(self, container: str) -> tuple[VirtualPod, str]:
        uid, name = self._names.container(container)
        self._catch_up()
        return self._node.pods[uid], name

    def _summary(self, pod: VirtualPod) -> str:
        is_ready = status_of(self._simulation, pod.uid).get("ready")
        newest = {record.name: record.restart_count for record in reversed(pod.runtime.snapshot.containers)}
        restarts = sum(newest.values())
        return f"{self._names.shown(pod.uid)} {'ready' if is_ready else 'not ready'} (restarts: {restarts})"

    def _recorded(self, section: str, line: Line) -> None:
        """Keep a record of the simulation that a test reads."""
        at = line.get("t_ms", 0) / 1_000
        match section:
            case "probes":
                worker = f"{self._names.shown(line['pod_uid'])}/{line['container']}/{line['type']}"
                took = line["end_ms"] / 1_000 - at
                self._history.attempts.append(Attempt(at, took, worker, line["outcome"]))
                if self._held is not None:
                    self._held.attempt(line)
            case "events":
                self._event_at(at, line["pod_uid"], line["type"], line["reason"], line["message"], line["field_path"])
            case "updates":
                self._updated(at, line)

    def _updated(self, at: float, line: Line) -> None:
        uid = line["pod_uid"]
        if line["result"] == "Failure" and line["type"] != "readiness":
            running = self._node.pods[uid].runtime.running(line["container_id"])
            if running is not None and (self._held is None or line["type"] == "startup"):
                self._killed(at, uid, running.name, line["type"])
                if self._held is not None:
                    self._held.killed(uid, running.name)
        self._look(at, uid)

    def _goes_on(self, uid: str, container: str) -> None:
        self._killed(self.now, uid, container, "liveness")

    def _killed(self, at: float, uid: str, container: str, probe_type: Literal["liveness", "startup"]) -> None:
        self._history.kill(Kill(at, f"{self._names.shown(uid)}/{container}", probe_type))

    def _stopped(self, uid: str, container: str) -> None:
        if self._held is not None:
            self._held.stopped(uid, container)

    def _published(self, uid: str, publish: Publish) -> None:
        self._look(self.now, uid)

    def _look(self, at: float, uid: str) -> None:
        self._history.status(at, self._names.shown(uid), status_of(self._simulation, uid))

    def _event(self, uid: str, record: Record) -> None:
        self._event_at(self.now, uid, record.type, record.reason, record.message, record.field_path)

    def _event_at(
        self, at: float, uid: str, kind: Literal["Normal", "Warning"], reason: str, message: str, path: str
    ) -> None:
        named = re.search(r"\{(.+)\}", path)
        container = named[1] if named is not None else ""
        self._history.event(Event(at, self._names.shown(uid), reason, message, kind, container))


def _gate(restart: str | None) -> RestartGate:
    """The kubelet's back-off; with ``restart``, one that has every restart wait so long from the container's end."""
    if restart is None:
        return RestartGate()
    wait_ns = milliseconds(restart, "restart") * MILLISECOND
    return RestartGate(GateOptions(initial_ns=wait_ns, max_ns=wait_ns, first_free=False, own_exit=True))


def _id(pod: VirtualPod, name: str) -> str:
    newest = pod.runtime.snapshot.newest(name)
    return "" if newest is None else newest.id
