"""One taken-over pod: its facts go to the engine, and what follows from results goes to kills and to its condition."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import structlog

from probelet._rust import Update
from probelet.agent.kill.kills import Kills
from probelet.agent.pod.pauses import Pauses
from probelet.agent.report.conditions import Conditions
from probelet.agent.state.records import FirstSeen
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.pods.begun import Begun, is_unwatched
from probelet.beside.pods.condition import Readiness, gated, readiness, readiness_of
from probelet.beside.pods.definition import probed
from probelet.beside.pods.facts import Known, begun, published
from probelet.beside.pods.instances import NO_INSTANCES, Instances
from probelet.beside.pods.victim import victims
from probelet.beside.takeover.reading import Reading
from probelet.host.incidents.pod import IncidentPod
from probelet.host.probe_changes import ProbeChanges
from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.glue.status_layer import encode_facts, read_probe_state, status_of
from probelet.policy.glue.sync_requests import SyncRequests
from probelet.policy.incidents.subjects import CommandReader
from probelet.policy.protocol.actions import Publish
from probelet.policy.rules.kind import containers, field_path
from probelet.policy.status.container_status import ContainerStatus
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.node_address import pod_address
from probelet.runtime.seen.result_log import ResultLog
from probelet.server.document.status import HeldDocument
from probelet.spec.annotation.hold_kills import hold_choice
from probelet.spec.annotation.probe_options import fold_options
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe_options import OptionDefaults
from probelet.spec.read.json import encode_pod

LEFT: Final = "ProbesLeft"
LEFT_MESSAGE: Final = "the label probelet.dev/managed is false: no probe is made, nothing is killed, the gate is open"
TAKEN_AGAIN: Final = "ProbesTakenAgain"
TAKEN_AGAIN_MESSAGE: Final = "the label probelet.dev/managed is no longer false: the probes go on"
"""Reasons and messages of the events about the label of a running pod."""

log = structlog.get_logger("probelet.agent")


class AgentParts(msgspec.Struct, frozen=True):
    """The parts that the pods of an agent share. ``journal`` has the results of an earlier agent; ``is_away`` says
    whether the API server is."""

    host: RuntimeHost
    kills: Kills
    conditions: Conditions
    pauses: Pauses
    journal: Known
    is_away: Callable[[], bool]
    probe_options: OptionDefaults | None = None
    """The options of probes whose pods name no others by annotation; None if pods may have none."""
    read_command: CommandReader | None = None
    """Reads the commands of exec probes for incidents; None if nothing is noticed."""


class AgentPod:
    """A pod as first seen, with the probes of ``reading``. ``on_over`` is called once nothing of it is left."""

    def __init__(
        self, first: FirstSeen, reading: Reading, parts: AgentParts, on_over: "Callable[[AgentPod], None]"
    ) -> None:
        assert first.pod is not None, "a taken-over pod has a definition"
        self.uid = first.uid
        self.full_name = f"{first.namespace}/{first.name}"
        self._parts = parts
        self.pod, self.problems = self._probed(first.pod, reading)
        """The definition with only the probes that were taken over, and the parts of the annotations that are ignored,
        a line each."""
        self.probe_changes = ProbeChanges(parts.host, self.uid, self.full_name)
        self.terminating = asyncio.Event()
        self.api: ApiPod | None = None
        """The newest version of the API server; None while there is none."""
        self.statuses: Mapping[str, ContainerStatus] = {}
        """The containers as the engine was last told of them."""
        self.is_listed = False
        """Whether the runtime has been listed since the pod was added: before, it only seems to have no containers."""
        self.readiness = Readiness(True)
        """The condition as last calculated."""
        self.is_left = False
        """The pod's label asks the agent to leave it alone: no attempts, no kills, and an open gate."""
        self._is_gone = False
        self._host = parts.host
        self._on_over = on_over
        self._read(reading)
        unwatched = (each for _, each in containers(first.pod) if is_unwatched(each, self.made_startups))
        self._begun = Begun(container.name for container in unwatched)
        self._published: Publish | None = None
        self._requests = SyncRequests()
        self._delayed: int | None = None
        # When the first kill that waits goes on at the latest: the moment and its timer.
        self._held_until: tuple[int, int] | None = None
        self._log = log.bind(pod=self.full_name)
        self._results = ResultLog(self.uid, parts.host.cache, self._log)
        self._incidents = IncidentPod(parts.host.incidents, parts.host.node, parts.read_command)
        self._incidents.known(self.pod)
        # Instances that ran in the last snapshot.
        self._running: set[str] = set()
        parts.host.engine.define_pod(encode_pod(self.pod))
        parts.pauses.begin(self.uid)

    def _probed(self, definition: Pod, reading: Reading) -> tuple[Pod, tuple[str, ...]]:
        # A pod with a mistake in its options keeps its ordinary probes.
        pod, mistakes = fold_options(probed(definition, reading), self._parts.probe_options)
        mistakes = [*mistakes, *hold_choice(definition)[1]]
        return pod, (*reading.problems, *(str(mistake.shortened()) for mistake in mistakes))

    def _read(self, reading: Reading) -> None:
        self.made_startups = frozenset(name for name, kinds in reading.made.items() if "startup" in kinds)
        """The containers whose native startup probe the webhook made."""
        self._unprobed = reading.unprobed
        # Without the gate the condition decides nothing; it still says what the probes found.
        self._has_condition = reading.has_gate or bool(gated(self.pod))

    # What is new.

    def update(self, api: ApiPod | None) -> None:
        """The API server has a new version of the pod, or None: no longer has it, though its containers may run on for
        their grace. ``observe`` draws the conclusions."""
        self._is_gone = api is None
        if api is not None:
            if api.is_left != self.is_left:
                self._leave(api.is_left)
            self.api = api
            self._parts.conditions.found(self.uid, api.condition, api.version)
        self._note_end(api is None or api.terminating)

    def close_gate(self) -> None:
        """Before the first probe: closes the gate if an instance runs that no earlier agent has found ready."""
        if self._has_condition and not self.is_left and not self._is_unlisted():
            _, publish = self._facts()
            if not (found := self._unprobed_readiness(publish)).ready:
                self._set_condition(found)

    def _unprobed_readiness(self, publish: Publish) -> Readiness:
        """The readiness of a pod of which the engine has no facts yet."""
        first = begun(self.pod, publish.containers, self._parts.journal, self._written)
        rows = {
            name: {
                "id": row.container_id,
                "state": row.state,
                "ready": first[name].ready,
                "started": first[name].started,
            }
            for name, row in publish.containers.items()
        }
        return readiness_of(self.pod, rows, self._unprobed)

    def change(self, definition: Pod, reading: Reading) -> tuple[str, ...]:
        """Goes on with other probes. Returns the mistakes that it did not have: with one the pod keeps its own
        probes."""
        pod, problems = self._probed(definition, reading)
        if mistakes := tuple(problem for problem in problems if problem not in self.problems):
            return mistakes
        before, self.pod, self.problems = self.pod, pod, problems
        self._read(reading)
        self._host.engine.define_pod(encode_pod(pod))
        if not self.terminating.is_set() and (changed := self.probe_changes.take(before, pod)):
            self._log.info("probes changed", probes=changed)
        if self.is_left:
            self._parts.pauses.leave(self.uid, pod, left=True)
        self._incidents.known(pod)
        return ()

    @property
    def template(self) -> str:
        """Always empty: a pod's owner says what made it."""
        return ""

    def observe(self) -> None:
        """The cache, the API server or the connection to it has news: the engine gets the facts if they changed."""
        self._sync(changed_only=True)

    def request_sync(self) -> None:
        """A result changed: sync now, or as soon as the pod may."""
        timers = self._host.timers
        now = timers.now()
        moment = self._requests.ask(now)
        if moment == now:
            self._sync()
        elif moment is not None:
            self._delayed = timers.arm(moment, self._delayed_sync)

    def log_result(self, update: Update) -> None:
        """Logs a result that changed."""
        self._results.log(update)
        host = self._parts.host
        record = host.cache.container(self.uid, update.container_id)
        host.drift.result(self.pod, update.probe_type, update.result, record)

    def has_started(self, container: str, container_id: str) -> bool:
        """Whether the startup probe that was taken over of a container has passed; True where there is none."""
        own = next((each for _, each in containers(self.pod) if each.name == container), None)
        if own is None or own.startup_probe is None:
            return True
        return self._host.engine.result("startup", container_id) == "Success"

    # What follows.

    def address(self) -> str:
        """The address that is probed: the sandbox's, or this node's for a pod on its network. Nothing else is."""
        snapshot = self._host.cache.snapshot(self.uid)
        return pod_address(self.pod, snapshot.pod_ip, self._host.address)

    @property
    def _written(self) -> Instances:
        """The instances that the condition at the API server names."""
        return NO_INSTANCES if self.api is None else self.api.instances

    def _note_end(self, ends: bool) -> None:
        if ends and not self.terminating.is_set():
            self._log.info("pod terminates: liveness and startup probes end")
            self.terminating.set()
            self._incidents.over(self.uid)
        elif not ends:
            self.terminating.clear()

    def _leave(self, left: bool) -> None:
        self.is_left = left
        if left:
            self._incidents.over(self.uid)
        else:
            self._incidents.known(self.pod)
        self._parts.pauses.leave(self.uid, self.pod, left=left)
        reason, message = (LEFT, LEFT_MESSAGE) if left else (TAKEN_AGAIN, TAKEN_AGAIN_MESSAGE)
        self._log.info(message)
        self._host.recorder.record(self.uid, self.full_name, "Normal", reason, message)

    def _delayed_sync(self) -> None:
        self._delayed = None
        self._requests.begin(self._host.timers.now())
        self._sync()

    def _sync(self, *, changed_only: bool = False) -> None:
        snapshot = self._host.cache.snapshot(self.uid)
        self._note_exits(snapshot)
        if self._is_gone and not snapshot.running() and not any(sandbox.ready for sandbox in snapshot.sandboxes):
            self._over()
            return
        if self._is_unlisted():
            return
        seen, publish = self._facts()
        self.statuses = publish.containers
        if self._published is None and not seen.containers:
            # Ticks from now on would come a moment before an initialDelaySeconds is over, and then a period later.
            if self._has_condition:
                self._set_condition(Readiness(True) if self.is_left else self._unprobed_readiness(publish))
            return
        if publish != self._published or not changed_only:
            self._publish(publish)
        self._judge(seen)

    def _note_exits(self, snapshot: Snapshot) -> None:
        for record in snapshot.containers:
            # A kill for a request is not the agent's own verdict, but no end by itself either.
            if record.state is State.EXITED and record.id in self._running and record.id not in self._parts.kills:
                self._incidents.exited(self.pod, record)
        self._running = {record.id for record in snapshot.containers if record.state is State.RUNNING}

    def _is_unlisted(self) -> bool:
        """Whether the containers of a pod that the API server has as ready are still to be listed."""
        return self._published is None and not self.is_listed and self.api is not None and self.api.is_ready

    def _facts(self) -> tuple[Snapshot, Publish]:
        """The begun instances, and the pod's status by them."""
        snapshot = self._host.cache.snapshot(self.uid)
        known = {} if self.api is None else self.api.containers
        is_away = self._parts.is_away()
        seen = self._begun.observe(snapshot, known, is_away=is_away, made_startups=self.made_startups)
        is_terminating = self.terminating.is_set()
        ip = self.address()
        return seen, published(self.pod, seen, self.api, self.statuses, pod_ip=ip, terminating=is_terminating)

    def _publish(self, publish: Publish) -> None:
        engine = self._host.engine
        is_first, self._published = self._published is None, publish
        self._host.networks.follow(self.pod)
        if is_first:
            facts = begun(self.pod, publish.containers, self._parts.journal, self._written)
            status = encode_facts(publish, facts)
            engine.begin_pod(self.uid, status)
        if publish.terminating:
            engine.sync_terminating_pod(self.uid, encode_facts(publish))
        elif not is_first:
            engine.sync_pod(self.uid, encode_facts(publish))

    def _judge(self, seen: Snapshot) -> None:
        """Kills what has failed, and sets the condition."""
        parts = self._parts
        if not self.terminating.is_set() and not self.is_left:
            for victim in victims(self.pod, seen, self._gated(seen)):
                parts.kills.begin(self, victim)
                self._incidents.killing(self.uid, victim.container.name, victim.record.id, by_probe=True)
        if self._has_condition:
            status = status_of(self._host.engine, self.uid)
            self._set_condition(Readiness(True) if self.is_left else readiness(self.pod, status, self._unprobed))

    def _gated(self, seen: Snapshot) -> ProbeState:
        """The results by which to kill: without the liveness failures whose kills wait, whose probes go on."""
        host, probes = self._host, read_probe_state(self._host.engine, self.pod, seen)
        if host.incidents.kill_gate is None:
            return probes
        gated = host.incidents.kill_gate.judge_all(host.timers.now(), self.pod, seen, probes)
        for name in gated.rechecks:
            host.engine.recheck(self.uid, name)
        kinds = {container.name: kind for kind, container in containers(self.pod)}
        for held in gated.begun:
            path = field_path(kinds[held.container], held.container)
            host.recorder.record(self.uid, self.full_name, "Warning", messages.KILL_HELD, held.message, path)
        self._wait_for_held(gated.until_ns)
        return gated.probes

    def _wait_for_held(self, until_ns: int | None) -> None:
        timers = self._host.timers
        if self._held_until is not None and self._held_until[0] != until_ns:
            timers.cancel(self._held_until[1])
            self._held_until = None
        if self._held_until is None and until_ns is not None:
            self._held_until = until_ns, timers.arm(until_ns, self._held_is_over)

    def _held_is_over(self) -> None:
        self._held_until = None
        self._sync()

    def held_kills(self) -> dict[str, HeldDocument]:
        """The liveness kills that wait, by container."""
        return self._host.incidents.held(self.uid)

    def _set_condition(self, found: Readiness) -> None:
        self.readiness = found
        meta = self.pod.metadata
        self._parts.conditions.set(self.uid, meta.namespace, meta.name, found)

    def _over(self) -> None:
        if self._delayed is not None:
            self._host.timers.cancel(self._delayed)
        self._wait_for_held(None)
        self._incidents.over(self.uid)
        self._host.engine.forget_pod(self.uid)
        self._host.networks.forget(self.uid)
        self._host.cache.forget(self.uid)
        self._parts.conditions.forget(self.uid)
        self._log.info("pod gone")
        self._on_over(self)
