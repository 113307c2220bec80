"""The gate in front of every start of a node's containers: crash-loop back-off, and what a node may add to it.

Rules
 1. Whether a container runs again at all is decided before (``rules.restart``). The core's ``Backoff`` says when: the
    kubelet's ``doBackOff`` (kuberuntime_manager.go, 1.36), which asks no policy, since a sync also starts containers
    that no policy wants back: in a new sandbox, with a new definition, when all of a pod's containers restart.
 2. A curve that the pod chose for a container replaces the node's curve; everything else is the same.
 3. With a restart budget, a start that the table allows takes a token of the node's bucket or waits for one. Containers
    get tokens in the order in which they ask. A container's very first start needs none.
 4. A released container starts at once, one time, whatever it waits for. Its delay neither grows nor shrinks by that.
 5. Image pulls have a back-off of their own (``start.image_backoff``).
"""

from collections.abc import Collection
from typing import Final, Literal, Protocol

import msgspec

from probelet._rust import Backoff, Requeue, TokenBucket
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.rules.kind import containers
from probelet.policy.rules.restart import back_off_key
from probelet.spec.annotation.backoff import chosen_curves
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND

HOUSEKEEPING_NS: Final = 2 * SECOND
"""How often the kubelet drops entries past their reset time (kubelet.go ``housekeepingPeriod``, 1.36)."""

RETRY_NS: Final = 10 * SECOND
"""When a failed sync is tried again (kubelet ``backOffPeriod``, 1.36, without its jitter)."""

ResetCause = Literal["gc", "operator", "ran_long"]


class Limits(msgspec.Struct, frozen=True):
    """The least and the longest delay that a pod may choose for a container, in nanoseconds."""

    least_ns: int = SECOND
    most_ns: int = 300 * SECOND


class GateOptions(msgspec.Struct, frozen=True):
    """How a node restarts. The defaults are the kubelet's; times in nanoseconds, ``factor_milli`` in thousandths.

    ``limits``: pods may choose curves within them. ``late``: after a refused start or a failed sync, the pod syncs
    again when the kubelet's pod worker would. ``own_exit``: a container that a probe had killed waits from its own
    end. ``budget``: burst of restarts and the time after which one more is allowed.
    """

    initial_ns: int = 10 * SECOND
    max_ns: int = 300 * SECOND
    reset_ns: int = 600 * SECOND
    factor_milli: int = 2_000
    first_free: bool = True
    late: bool = False
    own_exit: bool = False
    limits: Limits | None = None
    budget: tuple[int, int] | None = None


class StartDecision(msgspec.Struct, frozen=True):
    """Whether a container starts now. ``free``: no delay stood before it. Nanoseconds; ``delay_ns`` as stored.

    ``backoff`` and ``budget`` are what it waits for, until ``due_ns``.
    """

    word: Literal["start", "backoff", "budget"]
    due_ns: int = 0
    delay_ns: int = 0
    free: bool = False


class Wait(msgspec.Struct, frozen=True):
    """A container that may not start before ``due_ns``; ``delay_ns`` is the stored delay, 0 if it waits for the budget.

    ``what`` says whether its restart waits or the pull of its image.
    """

    due_ns: int
    delay_ns: int
    what: Literal["restart", "pull"] = "restart"


class Observer(Protocol):
    """Counts what the gate does."""

    def charged(self, delay_ns: int, late_ns: int | None) -> None:
        """A restart passed after ``delay_ns``, ``late_ns`` later than it was due; None: it had not waited."""

    def forgotten(self, cause: ResetCause) -> None:
        """A container's delay begins anew."""


class RestartGate:
    """The gate of one node. ``now`` is in nanoseconds and never goes back; ``seed`` is for ``late``."""

    def __init__(self, options: GateOptions | None = None, observer: Observer | None = None, *, seed: int = 0) -> None:
        self.options = options = options or GateOptions()
        self.observer = observer
        self.table = Backoff(
            initial_ns=options.initial_ns,
            max_ns=options.max_ns,
            reset_ns=options.reset_ns,
            factor_milli=options.factor_milli,
            first_free=options.first_free,
        )
        """The delay of every container: the part of the gate that a journal keeps."""
        self._requeue = Requeue(seed=seed) if options.late else None
        self._budget = TokenBucket(burst=options.budget[0], interval_ns=options.budget[1]) if options.budget else None
        # The key of each table is the container's back-off key.
        self._curves: dict[str, tuple[int, int] | None] = {}
        self._refused: dict[str, tuple[int, int]] = {}
        self._reserved: dict[str, int] = {}
        self._released: set[str] = set()
        self._gone: dict[str, int] = {}
        self._housekept = 0

    def decide(self, pod: Pod, container: Container, exited: ContainerRecord | None, now: int) -> StartDecision:
        """Decide whether a container may start after this exit, and record the start.

        ``exited`` is the newest exit of the snapshot that the sync began with. So the exit of the life before decides
        about a container that this very sync killed: the kubelet's accounting of probe kills.
        """
        if exited is None:
            return StartDecision("start", free=True)
        key = back_off_key(pod, container)
        self._gone.pop(key, None)
        self._keep_house(now)
        if key in self._released or self._reserved.get(key, now + 1) <= now:
            # The table has allowed this start before, or an operator has overruled it.
            self.table.note_start(key, now)
            return self._passed(key, now, free=False)
        if key in self._reserved:
            return StartDecision("budget", self._reserved[key])
        step = self.table.step(key)
        found = self.table.back_off(
            key, now_ns=now, finished_ns=exited.finished_ns or 0, own=self._own(pod, container, key)
        )
        if found.word == "wait":
            self._refused[key] = (found.due_ns, found.delay_ns)
            return StartDecision("backoff", found.due_ns, found.delay_ns)
        if step and self.table.step(key) == 1:
            self._forgotten("gc" if self.options.first_free and not found.free else "ran_long")
        if self._budget is not None and (at := self._budget.reserve(now)) > now:
            self._reserved[key] = at
            return StartDecision("budget", at)
        return self._passed(key, now, free=found.free)

    def _passed(self, key: str, now: int, *, free: bool) -> StartDecision:
        self._released.discard(key)
        self._reserved.pop(key, None)
        due, delay = self._refused.pop(key, (now + 1, 0))
        if self.observer is not None:
            waited = due <= now
            self.observer.charged(delay if waited else 0, now - due if waited else None)
        return StartDecision("start", free=free)

    def _own(self, pod: Pod, container: Container, key: str) -> tuple[int, int] | None:
        """The curve that the pod has chosen for a container, in bounds."""
        if self.options.limits is None:
            return None
        if key not in self._curves:
            self._curves[key] = self._chosen(pod, container, self.options.limits)
        return self._curves[key]

    def _chosen(self, pod: Pod, container: Container, limits: Limits) -> tuple[int, int] | None:
        curves, _ = chosen_curves(pod)
        if container.name not in curves:
            return None
        initial, longest = (min(max(each, limits.least_ns), limits.most_ns) for each in curves[container.name])
        return min(initial, longest), longest

    def next_sync(self, waits: Collection[Wait], now: int, *, failed: bool) -> int | None:
        """When a pod syncs again after a sync that left these waits, and maybe a failure; None: no such time.

        Each wait ends at its own time, and a failure is tried again after ``RETRY_NS``. With ``late`` there is one
        moment for all, and an image in back-off is an error like any other (pod_workers.go:completeWork, 1.36).
        """
        if self._requeue is None:
            moments = [wait.due_ns for wait in waits]
            if failed:
                moments.append(now + RETRY_NS)
            return min(moments, default=None)
        due = [wait.due_ns for wait in waits if wait.what == "restart"]
        pulls = any(wait.what == "pull" for wait in waits)
        return self._requeue.look_again(min(due, default=None), now) if due or pulls or failed else None

    def take(self, now_ns: int, tokens: int = 1) -> bool:
        """Take tokens of the budget for restarts that pass no gate; without a budget there are always some."""
        return self._budget is None or self._budget.take(now_ns, tokens)

    # For operators.

    def release(self, pod: Pod, container: Container) -> None:
        """Let a container pass at its next try."""
        self._released.add(back_off_key(pod, container))

    def reset(self, pod: Pod, container: Container) -> bool:
        """Forget a container's delay; False if it had none."""
        found = self.table.reset(back_off_key(pod, container))
        if found:
            self._forgotten("operator")
        return found

    # The table's entries.

    def step(self, pod: Pod, container: Container) -> int:
        """How many starts a container's delay has seen; 0 without one."""
        return self.table.step(back_off_key(pod, container))

    def recalled(self, now: int) -> None:
        """The table was filled from a journal: drop the entries for which no pod asks once their reset time is over."""
        self._gone = dict.fromkeys(self.table.keys(), now)

    def forget(self, pod: Pod, now: int) -> None:
        """Notes that a pod ended. Its delays stay until their reset time is over: a pod of its name may come back."""
        for _, container in containers(pod):
            self._leave(back_off_key(pod, container), now)
        self._sweep(now)

    def _leave(self, key: str, now: int) -> None:
        self._gone[key] = now
        self._refused.pop(key, None)
        self._reserved.pop(key, None)
        self._released.discard(key)

    def change(self, before: Pod, pod: Pod, now: int) -> None:
        """Notes that a pod's manifest changed. A container with another image has another key, and begins anew."""
        keys = {back_off_key(pod, container) for _, container in containers(pod)}
        for _, container in containers(before):
            key = back_off_key(before, container)
            self._curves.pop(key, None)
            if key not in keys:
                self._leave(key, now)

    def entries(self, now: int) -> int:
        """How many containers have a delay."""
        self._sweep(now)
        return len(self.table)

    def _sweep(self, now: int) -> None:
        for key, since in list(self._gone.items()):
            if now - since > self.options.reset_ns:
                del self._gone[key]
                self._curves.pop(key, None)
                if self.table.reset(key):
                    self._forgotten("gc")

    def _keep_house(self, now: int) -> None:
        """Drop entries past their reset time also while a container waits, as the kubelet's housekeeping does.

        With an exact timer there is no such moment.
        """
        if self._requeue is None or now - self._housekept < HOUSEKEEPING_NS:
            return
        self._housekept = now
        for _ in range(self.table.collect(now)):
            self._forgotten("gc")

    def _forgotten(self, cause: ResetCause) -> None:
        if self.observer is not None:
            self.observer.forgotten(cause)
