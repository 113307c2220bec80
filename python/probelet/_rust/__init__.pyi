"""The Rust half of probelet. This stub is the manual of the boundary.

Times are integers: ``*_ns`` are nanoseconds on the engine's monotonic clock (``Engine.now``), ``*_ms`` are
milliseconds since the Unix epoch. An integer is from 0 to 2**64 - 1 unless its method says otherwise; an exit
code has 32 bits and a sign. Structured values cross as JSON bytes, in batches, never per probe. ``started_at_ms`` in
them is from year 1 to year 9999, as in the API.

A number, a word or a document that a method does not allow raises ``probelet.errors.InvalidInputError``, which is a
``ValueError``. Its text is one line with the argument, its value and what is allowed. An argument of another Python
type raises ``TypeError``.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Literal, Self, final

__all__ = [
    "Backoff",
    "Batch",
    "CrashLoad",
    "CrashModel",
    "Decision",
    "Engine",
    "EventRecord",
    "ExecEnd",
    "ExecRun",
    "Notice",
    "Requeue",
    "RestartSpec",
    "Simulation",
    "TimerWheel",
    "TokenBucket",
    "Update",
    "attempt",
    "expand",
    "go_quote",
    "read_journal",
    "version",
]

_ProbeType = Literal["liveness", "readiness", "startup"]
_RestartPolicy = Literal["Always", "OnFailure", "Never"]
_ResultName = Literal["Success", "Failure", "Unknown"]

def version() -> str: ...
def go_quote(text: bytes) -> str:
    """Quote ``text`` as Go 1.26's ``strconv.Quote`` does: characters that Unicode 15.0 calls printable stay, any other
    character and each byte that is not UTF-8 are escaped."""

def attempt(
    spec: bytes, pod_ip: str, ports: list[tuple[str, int]], user_agent: str, *, kubelet_version: str = "1.36"
) -> bytes:
    """Run a probe over a socket once, on this thread, with the GIL released.

    ``spec`` is a v1.Probe as JSON, taken as it is. Returns ``{"outcome": "success" | "warning" | "failure" | "error",
    "result": "success" | "warning" | "failure" | "unknown", "output", "output_bytes": the output as a list of numbers
    where it is not UTF-8, "error": str | null, "cause", "duration_ms", "phases_ms"}``.

    Raises:
        OSError: no file descriptor is left.
    """

def expand(text: str, variables: dict[str, str]) -> str:
    """Replace ``$(NAME)``; an unknown name stays as written, ``$$`` is one dollar, so ``$$(NAME)`` is a text."""

def read_journal(path: str | PathLike[str]) -> bytes:
    """What a journal says, for tools: ``{"workers": [{"pod_uid", "container", "type", "container_id", "result",
    "last_result", "result_run", "on_hold", "has_initialized", "in_doubt"}], "backoff": [{"key", "delay_ns",
    "last_start_ns", "step"}], "cut": bool}``; ``last_start_ns`` on the wall clock. One that is not there says nothing.

    Raises:
        JournalError: the file is not a journal, or it is damaged.
    """

@final
class ExecRun:
    """One exec attempt that the engine asks Python to carry out through CRI ExecSync."""

    run: int
    pod_uid: str
    container: str
    probe_type: _ProbeType
    container_id: str
    argv: list[str]
    timeout_seconds: int
    due_ns: int
    """When its worker's schedule has it, on the clock of ``Engine.now``."""

@final
class ExecEnd:
    """How an exec attempt ended, for ``Engine.finish_execs``. ``run`` is the attempt's ``ExecRun.run``.

    ``code`` is None unless the command exited. ``output`` is what the command wrote, or the text of another end.
    """

    @property
    def run(self) -> int: ...
    @property
    def kind(self) -> Literal["exit", "timeout", "starved", "error"]: ...
    @property
    def code(self) -> int | None: ...
    @property
    def output(self) -> bytes: ...
    @staticmethod
    def exit(run: int, code: int, output: bytes) -> ExecEnd:
        """The command ended with this exit code: the probe succeeds with 0 and fails with any other code."""
    @staticmethod
    def timeout(run: int, text: bytes) -> ExecEnd:
        """The command took too long: the probe fails with ``text``."""
    @staticmethod
    def starved(run: int, text: bytes) -> ExecEnd:
        """The caller's own timeout passed while the caller itself was late: a failure with the cause ``starved``."""
    @staticmethod
    def error(run: int, text: bytes) -> ExecEnd:
        """The command could not run, or the runtime did not answer: a prober error, and the attempt gives no result."""

@final
class Update:
    """A result that changed; the latest per (type, container). ``result`` is None for one that is no longer cached:
    its worker has ended, or sees another container."""

    probe_type: _ProbeType
    container_id: str
    pod_uid: str
    result: _ResultName | None

@final
class EventRecord:
    """An event the prober wants recorded (kubelet ``prober.recordContainerEvent``)."""

    at_ms: int
    pod_uid: str
    field_path: str
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    streak: tuple[int, int] | None
    """Of a failed run: failures in a row with this one, at most the threshold in force; and that threshold."""

@final
class Notice:
    """A line for the log. ``is_warning``: something is wrong."""

    is_warning: bool
    text: str

@final
class Batch:
    """Everything that changed since the last ``Engine.drain``."""

    updates: list[Update]
    syncs: list[str]
    events: list[EventRecord]
    answers: list[tuple[int, str, int]]
    """Answers from addresses in doubt, for ``Engine.judge``: a number, the IP address, the port."""
    execs: list[ExecRun]
    timers: list[int]
    dropped_events: int
    notices: list[Notice]
    """Lines for the log: the journal's, at the start and when writing stops or starts to work; and starved attempts."""

@final
class Engine:
    """The live prober: one Rust thread owns the sockets, the wheel and the clock.

    ``fileno`` is readable while a batch waits; an asyncio loop watches it and calls ``drain``.
    Methods are safe to call from the loop's thread; none of them blocks on I/O.
    """

    def __new__(
        cls,
        *,
        seed: int = 0,
        user_agent: str = "kube-probe/1.36",
        kubelet_version: str = "1.36",
        start_jitter: bool = True,
        phase: Literal["kubelet", "spread"] = "kubelet",
        glue: bool = True,
        starved_share: float = 0.5,
        starved_verdict: Literal["failure", "unknown"] = "failure",
        journal: tuple[str | PathLike[str], Backoff] | None = None,
    ) -> Self:
        """Start the thread. Without ``glue`` results change no status and ask for no sync: a caller that keeps the
        statuses itself does that; so it is for the pods of ``add_pod`` and ``set_pod_status`` in any case. An attempt
        whose time runs out while the engine's own loop is late by more than ``starved_share`` of it has the cause
        ``starved``, and with the verdict ``unknown`` it is a prober error.

        ``journal`` is a file and the table that is kept in it beside the probes' memory:
        what an earlier engine left there is restored, except what is about another container, and the table's entries
        that are too old; and every change is written within 100 ms. A file that cannot be believed is renamed
        ``*.refused``; one that cannot be written stops nothing; ``Batch.notices`` says so.

        ``starved_share`` is finite and above 0.

        Raises:
            OSError: no thread or no file descriptor is left.
        """
    def fileno(self) -> int: ...
    def now(self) -> int:
        """The engine's monotonic clock in nanoseconds."""
    def wall_ms(self) -> int:
        """The wall clock the prober compares ``startedAt`` with, in Unix milliseconds."""
    def advance(self, ns: int) -> None:
        """Put both clocks forward by ``ns`` nanoseconds, so that tests need not wait. Whatever becomes due in between
        is carried out at once, and each worker runs once. Attempts in flight keep the time they have left. The clock
        cannot pass 2**63 - 1.
        """
    def drain(self) -> Batch: ...
    def close(self) -> None: ...

    # The status layer: the kubelet's glue. `run` uses these.
    def define_pod(self, pod: bytes) -> None:
        """Take a defaulted v1.Pod as JSON; a pod with the same UID is replaced for later AddPod calls."""
    def sync_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncPod: build the status from the runtime's facts, UpdatePodStatus, SetPodStatus, AddPod.

        ``facts`` is ``{"phase", "pod_ip", "containers": [F], "init_containers": [F]}`` with F =
        ``{"name", "id", "state": "running"|"waiting"|"terminated", "started_at_ms", "exit_code"}``;
        a container of the pod that is not listed is Waiting without an id.
        Returns ``{"phase", "pod_ip", "ready": bool, "initialized": bool, "containers": [S], "init_containers": [S]}``,
        S = F plus ``"ready": bool`` and ``"started": bool | null``.

        Raises:
            UnknownPodError: no pod with this UID was defined.
        """
    def sync_terminating_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncTerminatingPod: as ``sync_pod``, but StopLivenessAndStartup in place of AddPod."""
    def status(self, uid: str) -> bytes | None:
        """The status as last set, with the Ready and Started of every result since."""
    def forget_pod(self, uid: str) -> None:
        """RemovePod, and drop the pod's definition and status."""

    # The prober: what `serve` offers to a node agent that keeps the status itself.
    def add_pod(self, pod: bytes, deleting: bool = False) -> None: ...
    def set_pod_status(self, uid: str, status: bytes) -> None: ...
    def remove_pod_status(self, uid: str) -> None: ...
    def update_pod_status(self, uid: str, status: bytes) -> bytes: ...
    def remove_pod(self, uid: str) -> None: ...
    def stop_liveness_and_startup(self, uid: str) -> None: ...
    def cleanup_pods(self, desired: list[str]) -> None: ...
    def result(self, probe_type: _ProbeType, container_id: str) -> _ResultName | None: ...
    def finish_execs(self, finished: list[ExecEnd]) -> None:
        """Hand back exec attempts; unknown runs are ignored."""

    # Whose answers count, where pods share a network.
    def doubt(self, ip: str, ports: list[int]) -> None:
        """From now on an attempt that is answered at one of these ports waits for ``judge``, until an answer of that
        port was judged to be the pod's own. ``ports`` are from 0 to 65535.
        """
    def forget_doubts(self, ip: str) -> None:
        """Doubt no port of this address any more, because no pod has it."""
    def judge(self, answer: int, word: Literal["own", "foreign", "unknown"], why: str = "") -> None:
        """Say whose an answer of ``Batch.answers`` is; an unknown number is ignored.

        ``own``: it is the pod's own and counts. ``foreign``: the attempt counts as a refused connection, with ``why``
        in its text. ``unknown``: it is a prober error with ``why``; so is an answer without a call for two seconds.
        """

    # Policy's deadlines live on the same wheel.
    def arm(self, deadline_ns: int, token: int) -> int:
        """Arm a timer; ``token`` comes back in ``Batch.timers``. Returns an id for ``cancel``."""
    def cancel(self, timer: int) -> bool: ...

    # What others read.
    def probe_states(self, uid: str | None = None) -> bytes:
        """Workers as JSON: ``[{"pod_uid", "container", "type", "handler", "container_id", "result", "result_run",
        "failure_threshold", "success_threshold", "on_hold", "runs", "failures", "errors", "next_at_ms",
        "last": {"at_ms", "outcome", "cause", "message", "duration_ms", "lateness_ms", "overdue_ms",
        "phases_ms"} | null}]``."""
    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``: the kubelet's names and label sets."""
    def metrics(self) -> bytes:
        """Our own bounded series for ``/metrics`` (runs, durations, lateness, in flight, queue depths)."""

@final
class Simulation:
    """The same prober under a virtual clock with scripted outcomes: hours in milliseconds, the same every time.

    Times are virtual milliseconds since t = 0, which lies on a whole second of the wall clock (Unix time 0); the
    prober started ``warmup_ms`` earlier. ``t_ms`` is from -2**41 to 2**41 (69 years), ``warmup_ms`` from 0 to 2**41.
    ``glue`` says which results change a status: ``"kubelet"`` does all that the kubelet does, ``"none"`` nothing, and a
    list with commas some of ``readiness``, ``startup`` and ``sync``. With ``sockets`` a probe other than exec asks a
    real socket while the virtual clock stands still; without, it is scripted too. Inputs only change state; what
    follows from them happens in ``settle``, ``run_until`` and ``run_until_update``.
    """

    def __new__(
        cls,
        *,
        warmup_ms: int = 3_600_000,
        seed: int = 0,
        kubelet_version: str = "1.36",
        glue: str = "kubelet",
        record: bool = True,
        sockets: bool = False,
        user_agent: str = "kube-probe/1.36",
        phase: Literal["kubelet", "spread"] = "kubelet",
    ) -> Self: ...
    @property
    def now_ms(self) -> int: ...
    @property
    def runs(self) -> int:
        """Runs that have ended, prober errors among them."""
    def script(self, key: str, steps: bytes) -> None:
        """Script the attempts of ``pod/container/type``: a JSON list of ``{"outcome": "success" | "failure" |
        "error" | "timeout" | "hang", "repeat", "delay_ms", "hang_ms", "ignore_timeout", "output", "output_repeat",
        "error", "exit_code"}``. The last entry repeats for ever; a worker without a script succeeds."""
    def define_pod(self, pod: bytes) -> None: ...
    def add_pod(self, uid: str) -> None: ...
    def set_pod_status(self, uid: str, status: bytes) -> None: ...
    def remove_pod_status(self, uid: str) -> None: ...
    def update_pod_status(self, uid: str, status: bytes) -> bytes: ...
    def sync_pod(self, uid: str, facts: bytes) -> bytes: ...
    def sync_terminating_pod(self, uid: str, facts: bytes) -> bytes: ...
    def sync_terminated_pod(self, uid: str, facts: bytes) -> bytes: ...
    def status(self, uid: str) -> bytes | None: ...
    def remove_pod(self, uid: str) -> None: ...
    def stop_liveness_and_startup(self, uid: str) -> None: ...
    def mark_deleting(self, uid: str) -> None:
        """Set deletionTimestamp on the object the running workers hold, which the kubelet never does."""
    def cleanup_pods(self, desired: list[str]) -> None: ...
    def settle(self) -> None: ...
    def run_until(self, t_ms: int) -> None:
        """Play on until ``t_ms``, the activity of that moment included."""
    def run_until_update(self, t_ms: int, probe_type: _ProbeType, container_id: str | None = None) -> bool:
        """As ``run_until``, but stop at the first result of that type that changes; says whether one did. With
        ``container_id`` only that container's result counts."""
    def next_ms(self) -> int | None:
        """When something happens without a further input; None if nothing ever does."""
    def take_records(self) -> bytes:
        """What was written since the last call: a JSON list of lines, each with its ``section``."""
    def workers(self) -> list[tuple[str, str, _ProbeType]]:
        """(pod, container, type) of every live worker."""
    def result(self, probe_type: _ProbeType, container_id: str) -> _ResultName | None: ...
    def metrics(self) -> bytes:
        """Names and counts of every live worker, as a JSON list."""

@final
class Decision:
    """What ``Backoff`` answers about the start of a container. Equal fields make equal decisions.

    ``start``: it starts now; ``free`` says that no delay stood before it. ``wait``: it may start at ``due_ns``, and
    ``delay_ns`` is the stored delay. ``never``: it does not run again. A field that does not belong to the word is 0 or
    False.
    """

    word: Literal["start", "wait", "never"]
    due_ns: int
    delay_ns: int
    free: bool

@final
class Backoff:
    """Keyed exponential back-off of container restarts (client-go ``flowcontrol.Backoff`` as the kubelet uses it).

    ``now_ns`` and ``finished_ns`` are on one clock. ``decide`` is the start decision of a container (kubelet
    ``doBackOff``). ``rules`` are the container's restartPolicyRules as JSON, ``own`` is the first and the longest delay
    in nanoseconds of a container with a curve of its own.
    """

    def __new__(
        cls,
        *,
        initial_ns: int = 10_000_000_000,
        max_ns: int = 300_000_000_000,
        reset_ns: int = 600_000_000_000,
        factor_milli: int = 2_000,
        first_free: bool = True,
    ) -> Self:
        """An ``initial_ns`` above ``max_ns`` counts as ``max_ns``; with either at 0 no restart is delayed. A start
        multiplies the delay by ``factor_milli`` thousandths, at least 1000, and the result is at most ``max_ns``.
        Without ``first_free`` a container without an entry waits ``initial_ns`` after its exit instead of starting at
        once (kubernetes#123602)."""
    def decide(
        self,
        key: str,
        *,
        now_ns: int,
        finished_ns: int | None,
        exit_code: int | None,
        restart_policy: _RestartPolicy,
        rules: bytes | None = None,
        own: tuple[int, int] | None = None,
    ) -> Decision: ...
    def back_off(self, key: str, *, now_ns: int, finished_ns: int, own: tuple[int, int] | None = None) -> Decision:
        """The half of ``decide`` that says when: for a container that is to run again, whatever its policy. Its word is
        ``start`` or ``wait``."""
    def retry_due(self, key: str, now_ns: int) -> tuple[int, int] | None:
        """``(due_ns, delay_ns)`` while ``key`` waits after its last failure, None when it may be tried again."""
    def note_failure(self, key: str, now_ns: int) -> None:
        """A try has just failed, such as the pull of an image: the next one waits, twice as long as the last did."""
    def keys(self) -> list[str]:
        """The keys that have an entry, in order."""
    def delay_ns(self, key: str) -> int:
        """The stored delay of a key, 0 without an entry."""
    def step(self, key: str) -> int:
        """How many doublings the key has seen; 0 without an entry."""
    def note_start(self, key: str, now_ns: int) -> None:
        """A start that no decision led to: the delay stays, the run counts from ``now_ns``."""
    def reset(self, key: str) -> bool: ...
    def collect(self, now_ns: int) -> int:
        """Drop every entry that has not been used for ``reset_ns``; returns how many."""
    def __len__(self) -> int: ...

@final
class RestartSpec:
    """What decides whether a container that has ended runs again: the pod's policy, the container's own, its rules.

    ``rules`` are ``(action, operator, exit codes)`` with the API's words: ``Restart`` or ``RestartAllContainers``, and
    ``In`` or ``NotIn``. The first rule that matches an exit code counts.
    """

    def __new__(cls, pod: str, own: str | None = None, rules: Sequence[tuple[str, str, list[int]]] = ...) -> Self: ...
    @property
    def policy(self) -> _RestartPolicy:
        """The container's own policy, else the pod's."""
    def after_exit(self, exit_code: int) -> bool:
        """Whether a container that exited runs again: by its rules, which need a policy of its own, then its policy."""
    def after_kill(self) -> bool:
        """Whether a container that a probe had killed runs again: no restart rule counts; ``OnFailure`` restarts it."""
    def restarts_all(self, exit_code: int) -> bool:
        """Whether an exit with this code restarts all containers of the pod."""

@final
class Requeue:
    """When the kubelet's pod worker looks again at a pod whose sync failed."""

    def __new__(cls, *, seed: int = 0) -> Self: ...
    def look_again(self, due_ns: int | None, now_ns: int) -> int:
        """The rest of the wait, at most a minute, times 1 to 1.5, and then the next whole second; never early.

        ``due_ns``: when the first refused start of the pod may happen. None: none was refused, something else failed;
        the wait is 10 s then.
        """

@final
class CrashModel:
    """One kind of container that crashes, and the rules it is restarted under: the live manager's start decision.

    ``initial_ns`` to ``first_free`` are those of ``Backoff``; both delays are at least a millisecond. The length of
    each life is drawn evenly from ``run_min_ns`` to ``run_max_ns``, both included. Each delay grows at random by up to
    ``jitter_milli`` thousandths of the delay before. With ``by_kubelet`` the kubelet's sync loop (relist, re-queue,
    housekeeping) wakes the container; without, an exact timer does.
    """

    def __new__(
        cls,
        *,
        initial_ns: int,
        max_ns: int,
        reset_ns: int,
        factor_milli: int,
        jitter_milli: int,
        first_free: bool,
        run_min_ns: int,
        run_max_ns: int,
        exit_code: int,
        policy: Literal["Always", "OnFailure", "Never"],
        by_kubelet: bool,
    ) -> Self: ...
    def restarts(self, *, count: int, until_ns: int, seed: int = 0) -> list[tuple[int, int, int]]:
        """The first ``count`` restarts, at most 10,000,000, of a container that is first started at 0, none after
        ``until_ns``.

        Each is a tuple ``(at_ns, finished_ns, delay_ns)``: the restart, the exit before it and the delay that the
        container had to wait, 0 if none. They are tuples because a list may have millions of them."""

@final
class CrashLoad:
    """Restarts of many containers from 0 to ``window_ns``, both included, counted in slots of ``slot_ns``. Both are at
    least 1; a window has at most 1,000,000 slots."""

    def __new__(cls, *, window_ns: int, slot_ns: int) -> Self: ...
    def add(self, model: CrashModel, *, containers: int, spread_ns: int = 0, seed: int = 0) -> None:
        """Add containers whose first starts are spread evenly over ``spread_ns``. Ctrl-C ends it."""
    @property
    def restarts(self) -> int: ...
    @property
    def slots(self) -> list[int]:
        """Restarts by slot: after its beginning and up to its end, the first one from 0 on."""

@final
class TokenBucket:
    """A token bucket. It starts with ``burst`` tokens, at most 2**32 - 1, and gets one back every ``interval_ns``. With
    an ``interval_ns`` of 0 it is always full; with a ``burst`` of 0 it never has a token to take."""

    def __new__(cls, *, burst: int, interval_ns: int) -> Self: ...
    def take(self, now_ns: int, tokens: int = 1) -> bool: ...
    def reserve(self, now_ns: int) -> int:
        """Take the next token, which may not be there yet; returns when it will be. Each call gets a later token."""
    def due(self, now_ns: int) -> int:
        """When there will be a token if nobody takes one; ``now_ns`` if there is one already."""
    def available(self, now_ns: int) -> int: ...

@final
class TimerWheel:
    """A hierarchical timer wheel: FIFO among equal deadlines, O(1) arm, cancel and fire."""

    def __new__(cls) -> Self: ...
    def arm(self, deadline_ns: int, token: int) -> int: ...
    def cancel(self, timer: int) -> bool: ...
    def fire(self, now_ns: int) -> list[int]:
        """The tokens due at ``now_ns``, in order of (deadline, arm)."""
    def next_deadline(self) -> int | None: ...
    def __len__(self) -> int: ...
