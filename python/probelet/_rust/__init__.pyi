"""The Rust half of probelet: the prober, its parts and its virtual clock.

Times are integers: ``*_ns`` are nanoseconds on the engine's monotonic clock (``Engine.now``), ``*_ms`` are
milliseconds since the Unix epoch. An integer is from 0 to 2**64 - 1 unless its method says otherwise; an exit
code has 32 bits and a sign. Structured values cross as JSON bytes, in batches, never per probe.

A number, a word or a document that a method does not allow raises ``probelet.errors.InvalidInputError``, which is a
``ValueError``. Its text is one line with the argument, its value and what is allowed; of a document, the path of
the first mistake, such as an unknown key. An argument of another Python type raises ``TypeError``.

Documents
    A *pod* is a v1.Pod with its defaults set: an absent number is 0. Every key of v1.Pod is allowed. The prober
    reads ``metadata`` (``uid``, ``name``, ``namespace``, ``deletionTimestamp``), the condition ``Ready`` of
    ``status``, and of each container and init container the name, ``ports``, ``env``, restart policies and probes.

    The *facts* of a runtime are ``{"phase", "pod_ip", "containers": [F], "init_containers": [F]}`` with F =
    ``{"name", "id", "state": "running" | "waiting" | "terminated", "started_at_ms", "exit_code"}``. Only ``name``
    and ``state`` are required; ``phase`` is ``Pending`` if absent. ``started_at_ms`` is from year 1 to year 9999,
    as in the API. A container of the pod that is not listed is waiting and has no ID.

    A *status* is the facts with ``"ready": bool`` and ``"started": bool | null`` of each container, and with
    ``"ready": bool`` and ``"initialized": bool`` of the pod. As an argument it may leave them out; the pod's own
    ``ready`` and ``initialized`` are not read, because both follow from the containers. If all containers of the
    pod are restarting, it has ``"all_containers_restarting": true``.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Literal, Self, final

__all__ = [
    "Backoff",
    "Batch",
    "ClusterModel",
    "CrashLoad",
    "CrashModel",
    "Decision",
    "Engine",
    "EnteredExec",
    "EventRecord",
    "ExecEnd",
    "ExecRun",
    "Notice",
    "Recording",
    "Requeue",
    "RestartSpec",
    "Simulation",
    "TimerWheel",
    "TokenBucket",
    "TurnRecord",
    "Update",
    "attempt",
    "certificate_validity",
    "expand",
    "go_quote",
    "issue_certificate",
    "make_authority",
    "read_hello",
    "read_journal",
    "version",
]

_ProbeType = Literal["liveness", "readiness", "startup"]
_RestartPolicy = Literal["Always", "OnFailure", "Never"]
_ResultName = Literal["Success", "Failure", "Unknown"]

def version() -> str:
    """The version of the extension, which is the version of the package."""

def go_quote(text: bytes) -> str:
    """Quotes ``text`` as Go 1.26's ``strconv.Quote`` does: characters that Unicode 15.0 calls printable stay, any other
    character and each byte that is not UTF-8 are escaped."""

def read_hello(socket: int) -> tuple[int, list[int]] | str:
    """Reads the first message of ``probelet-enter`` from its socket, before ``Engine.use_helper``: the capabilities
    that the helper may give to commands, one bit each, and its hard limits by number; or why it cannot be used. The
    text is empty if the helper has closed its socket.

    Raises:
        InvalidInputError: the descriptor is below 0.
    """

def attempt(
    spec: bytes, pod_ip: str, ports: list[tuple[str, int]], user_agent: str, *, kubelet_version: str = "1.36"
) -> bytes:
    """Makes one attempt of a probe over a socket, on this thread, with the GIL released.

    ``spec`` is a v1.Probe as JSON, taken as it is. ``ports`` are the names and numbers of the container's ports.
    Returns ``{"outcome": "success" | "warning" | "failure" | "error", "result": "success" | "warning" | "failure" |
    "unknown", "output", "output_bytes": the output as a list of numbers where it is not UTF-8, "error": str | null,
    "cause", "duration_ms", "phases_ms"}``.

    Raises:
        InvalidInputError: ``spec`` is no v1.Probe, or ``kubelet_version`` is not known.
        OSError: no file descriptor is left.
    """

def expand(text: str, variables: dict[str, str]) -> str:
    """Replaces ``$(NAME)``; an unknown name stays as written, ``$$`` is one dollar, so ``$$(NAME)`` is a text.

    Raises:
        InvalidInputError: the values of the variables together add more than 1 MiB.
    """

def make_authority(name: str, not_before: int, not_after: int) -> tuple[bytes, bytes]:
    """Makes a certificate authority for servers' certificates: its certificate and its key (PKCS #8), both DER.

    Times are seconds since the Unix epoch; ``not_after`` is the last second of the certificate.

    Raises:
        InvalidInputError: a time beyond year 9999.
    """

def issue_certificate(
    name: str, authority_key: bytes, hosts: Sequence[str], not_before: int, not_after: int
) -> tuple[bytes, bytes]:
    """Makes a server's certificate for DNS names and IP addresses, signed with the key of the authority ``name``: its
    certificate and its key (PKCS #8), both DER.

    Raises:
        InvalidInputError: a name that no certificate can have, a key of no authority, a time beyond year 9999.
    """

def certificate_validity(certificate: bytes) -> tuple[int, int]:
    """The first and the last second in which a certificate (DER) holds, since the Unix epoch.

    Raises:
        InvalidInputError: no certificate, in the words of Go's parser.
    """

def read_journal(path: str | PathLike[str]) -> bytes:
    """Reads a journal, for tools: ``{"workers": [{"pod_uid", "container", "type", "container_id", "result",
    "last_result", "result_run", "on_hold", "has_initialized", "in_doubt", "attempts"}], "backoff": [{"key",
    "delay_ns", "last_start_ns", "step"}], "cut": bool}``; ``attempts`` is how many attempts of the worker it has, and
    ``last_start_ns`` is on the wall clock. A file that is not there is an empty journal.

    Raises:
        JournalError: the file is not a journal, or it is damaged.
    """

@final
class Recording:
    """What a flight recorder wrote: a directory of segments, or one file of a segment or of several.

    A *stretch* is what one engine recorded without a loss. Times are Unix microseconds. A segment that was cut by a
    kill counts up to there.

    Raises:
        RecordingError: it cannot be read, it is no recording, or it is damaged; the text is one line with the place.
    """

    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    def describe(self) -> bytes:
        """All but the single attempts: ``{"node", "lost": entries that are missing, "cuts": [a line for each segment
        that a kill cut], "stretches": [{"probelet", "lost", "from_us", "to_us", "pods": [{"uid", "namespace", "name",
        "from_us", "attempts": how many, "containers": [{"name", "images", "probes": {type: P}, "seen": {type: S}}],
        "lives": [{"container_id", "container", "ran_us", "ended_us", "exit_code"}], "results": [R], "kills": [K]}]}]}``
        with R = ``{"at_us", "type", "container_id", "result", "cause": of a failure or null}``, K = ``{"at_us", "type",
        "container_id"}`` (a verdict that ends a container), P the six numbers of a probe, and S what its attempts were
        like: ``{"attempts", "failures", "errors", "starved", "total_us", "slow_us", "late_us"}``, of which the last two
        are what 99 of 100 did not exceed.
        """
    def play(self, stretch: int, pod: int, changes: bytes, assume: Literal["healthy", "failing"]) -> bytes:
        """Plays the pod number ``pod`` of the stretch number ``stretch``, from 0, with other probes. ``changes`` is a
        JSON list of ``{"container", "type", "probe": P | null}``. Returns ``{"results": [R], "kills": [K], "recorded",
        "carried", "unknown"}``: the last three count attempts by what answered them. ``assume`` says how a container
        answers of which nobody knows: ``healthy`` or ``failing``.

        Raises:
            InvalidInputError: there is no such pod, change or assumption.
        """
    def turns(self, stretch: int, pod: int) -> bytes:
        """The attempts of the pod number ``pod`` of the stretch number ``stretch``, from 0, that say something new: the
        first one of each worker, a good one after a bad one, and the first ten bad ones in a row. Returns
        ``{"turns": [{"container", "type", "at_us", "is_good", "cause", "late_us"}], "gone_us"}``; ``gone_us`` is when
        the pod began to end, or null.

        Raises:
            InvalidInputError: there is no such pod.
        """

@final
class ExecRun:
    """One exec attempt that the engine asks Python to carry out through CRI ExecSync. ``Batch.execs`` lists them."""

    @property
    def run(self) -> int:
        """The attempt's number, for the ``ExecEnd`` that answers it."""
    @property
    def pod_uid(self) -> str:
        """The pod's UID."""
    @property
    def container(self) -> str:
        """The container's name."""
    @property
    def probe_type(self) -> _ProbeType:
        """``liveness``, ``readiness`` or ``startup``."""
    @property
    def container_id(self) -> str:
        """The container's ID, ``type://id``."""
    @property
    def argv(self) -> list[str]:
        """The command with its variables expanded."""
    @property
    def timeout_seconds(self) -> int:
        """The probe's ``timeoutSeconds``."""
    @property
    def due_ns(self) -> int:
        """When its worker's schedule has it, on the clock of ``Engine.now``."""
    @property
    def refusal(self) -> tuple[int, int, int] | None:
        """Why the helper did not start the command (rust/enter-protocol/src/answer.rs): the numbers of ``Refusal`` and
        ``Step``, and the system's error number. None if the engine did not ask the helper."""

@final
class EnteredExec:
    """What became of a command of ``Engine.enter_exec``. ``Batch.entered`` lists them."""

    @property
    def run(self) -> int:
        """The attempt's number."""
    @property
    def end(self) -> ExecEnd | None:
        """How the command ended; None if it did not start, or if an earlier batch said it."""
    @property
    def refusal(self) -> tuple[int, int, int] | None:
        """Why it did not start, as ``ExecRun.refusal`` has it."""
    @property
    def is_over(self) -> bool:
        """Whether every process of the command has ended. If not, another ``EnteredExec`` without ``end`` says so
        later."""

@final
class ExecEnd:
    """How an exec attempt ended, for ``Engine.finish_execs``. One of the static methods makes it."""

    @property
    def run(self) -> int:
        """The attempt's number, ``ExecRun.run``."""
    @property
    def kind(self) -> Literal["exit", "timeout", "starved", "error"]:
        """The static method that made it: ``exit``, ``timeout``, ``starved`` or ``error``."""
    @property
    def code(self) -> int | None:
        """The exit code; None unless the command exited."""
    @property
    def output(self) -> bytes:
        """What the command wrote, or the text of another end."""
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
    """A result that changed; the latest one of each probe type and container. ``Batch.updates`` lists them."""

    @property
    def probe_type(self) -> _ProbeType:
        """``liveness``, ``readiness`` or ``startup``."""
    @property
    def container_id(self) -> str:
        """The container's ID, ``type://id``."""
    @property
    def pod_uid(self) -> str:
        """The pod's UID."""
    @property
    def result(self) -> _ResultName | None:
        """``Success``, ``Failure`` or ``Unknown``; None for a result that is no longer cached, because its worker has
        ended or sees another container."""

@final
class EventRecord:
    """An event that the prober wants recorded (kubelet ``prober.recordContainerEvent``, 1.36). ``Batch.events`` lists
    them."""

    @property
    def at_ms(self) -> int:
        """When, in milliseconds since the Unix epoch."""
    @property
    def pod_uid(self) -> str:
        """The pod's UID."""
    @property
    def field_path(self) -> str:
        """``involvedObject.fieldPath``, such as ``spec.containers{app}``."""
    @property
    def type(self) -> Literal["Normal", "Warning"]:
        """The event's type; that of a probe is ``Warning``."""
    @property
    def reason(self) -> str:
        """``Unhealthy`` or ``ProbeWarning``."""
    @property
    def message(self) -> str:
        """The kubelet's text; bytes of a target that are not UTF-8 are replaced."""
    @property
    def streak(self) -> tuple[int, int] | None:
        """Of a failed run: failures in a row with this one, at most the threshold in force; and that threshold."""

@final
class TurnRecord:
    """An attempt that says something new: the first one of a worker in this engine, a good one after a bad one, and the
    first ten bad ones in a row. ``Batch.turns`` lists them."""

    @property
    def pod_uid(self) -> str:
        """The pod's UID."""
    @property
    def container(self) -> str:
        """The container's name."""
    @property
    def probe_type(self) -> _ProbeType:
        """``liveness``, ``readiness`` or ``startup``."""
    @property
    def at_ms(self) -> int:
        """When the attempt ended, in milliseconds since the Unix epoch."""
    @property
    def is_good(self) -> bool:
        """True for success and warning, false for failure and error."""
    @property
    def cause(self) -> str:
        """Why it ended so; ``ok`` where nothing is wrong, and ``starved`` where the prober itself was late."""
    @property
    def lateness_ms(self) -> float:
        """How late it began against the worker's own grid."""
    @property
    def overdue_ms(self) -> float:
        """How long the prober's own loop was overdue while it ran."""
    @property
    def message(self) -> str:
        """What it said, at most 256 bytes; empty for a success."""

@final
class Notice:
    """A line for the log: the journal's, at the start and when writing stops or starts to work; and starved
    attempts. ``Batch.notices`` lists them."""

    @property
    def is_warning(self) -> bool:
        """True if something is wrong."""
    @property
    def text(self) -> str:
        """The line."""

@final
class Batch:
    """Everything that changed since the last ``Engine.drain``."""

    @property
    def updates(self) -> list[Update]:
        """Results that changed."""
    @property
    def syncs(self) -> list[str]:
        """UIDs of pods whose results ask for a sync."""
    @property
    def events(self) -> list[EventRecord]:
        """Events of the prober, oldest first; 10,000 and 16 MiB at most."""
    @property
    def turns(self) -> list[TurnRecord]:
        """Attempts that say something new, oldest first, 10,000 at most; none before ``Engine.watch_turns``."""
    @property
    def answers(self) -> list[tuple[int, str, int]]:
        """Answers from addresses in doubt, for ``Engine.judge``: a number, the IP address, the port."""
    @property
    def execs(self) -> list[ExecRun]:
        """Exec attempts to carry out; ``Engine.finish_execs`` takes their ends."""
    @property
    def entered(self) -> list[EnteredExec]:
        """What became of the commands of ``Engine.enter_exec``."""
    @property
    def timers(self) -> list[int]:
        """Tokens of the timers of ``Engine.arm`` that were due, in order."""
    @property
    def dropped_events(self) -> int:
        """How many of the oldest events were dropped, because nobody drained."""
    @property
    def dropped_turns(self) -> int:
        """How many of the oldest turns were dropped for the same reason."""
    @property
    def notices(self) -> list[Notice]:
        """Lines for the log."""

@final
class Engine:
    """The live prober, ``probelet.Prober``: one Rust thread owns the sockets, the timer wheel and the clock.

    ``fileno`` is readable while a batch waits; an event loop watches it and calls ``drain``. Methods are safe to call
    from any thread; none of them but ``close`` waits for I/O. The constructor starts the thread, and ``close`` ends it.

    A node keeps its pods with ``define_pod``, ``sync_pod``, ``sync_terminating_pod`` and ``forget_pod``: the engine
    keeps their statuses as the kubelet does. A caller that keeps the statuses itself uses ``add_pod``,
    ``set_pod_status`` and the other calls of the kubelet's prober manager (pkg/kubelet/prober/prober_manager.go, 1.36).
    ``help(probelet._rust)`` says what a pod, facts and a status are in JSON.

    Args:
        seed: of the jitter of first probes.
        user_agent: the ``User-Agent`` of HTTP and gRPC probes.
        kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
        semantics: what results mean. ``kubelet``: the kubelet acts on them. ``enhanced``: they only report, and the
            cluster decides, as in OpenKruise's proposal of an enhanced liveness probe: liveness begins as ``Unknown``,
            is ``Unknown`` while the container does not run, goes on after a failure and during a pod's deletion, and
            counts each new container from 0.
        start_jitter: delay first probes at random after the start of the prober, as the kubelet does.
        phase: which moment a worker's periods count from: ``kubelet`` the worker's start, ``spread`` one of its own
            from the second attempt on, so that workers that start together spread.
        wake_slack_ns: how late an attempt may begin so that it shares a wake-up with others, at most 100 ms. Any may be
            a millisecond late, and four where all probes are exec probes.
        extra_runs_per_second: how many runs a second all probes together may make between their ordinary ones, if
            options of probes ask for any; 0 for no limit.
        glue: results change statuses and ask for syncs. Without it they do neither, as it is in any case for the pods
            of ``add_pod`` and ``set_pod_status``, whose caller acts on results itself.
        starved_share: an attempt whose time runs out while the engine's own loop is late by more than this share of it
            has the cause ``starved``. Finite and above 0.
        starved_verdict: what such an attempt means: ``failure`` as in the kubelet, or ``unknown``, a prober error.
        journal: a file, and the back-off table that is kept in it beside the probes' memory. What an earlier engine
            left there is restored, except what is about another container, and entries of the table that are too old;
            every change is written within 100 ms. A file that cannot be believed is renamed ``*.refused``; one that
            cannot be written stops nothing; ``Batch.notices`` says so.
        recorder: a directory for the flight recorder, made if it is missing; the bytes that it may have there, at least
            1 MiB; and the node's name. Every attempt's end, result and call about a pod is written within a second or
            two, in segments of which the oldest go first. A disk that hangs or is full stops nothing; ``Batch.notices``
            says so.

    Raises:
        InvalidInputError: an argument has a value that is not allowed.
        OSError: no thread or no file descriptor is left.
    """

    def __new__(
        cls,
        *,
        seed: int = 0,
        user_agent: str = "kube-probe/1.36",
        kubelet_version: str = "1.36",
        semantics: Literal["kubelet", "enhanced"] = "kubelet",
        start_jitter: bool = True,
        phase: Literal["kubelet", "spread"] = "kubelet",
        wake_slack_ns: int = 0,
        extra_runs_per_second: int = 0,
        glue: bool = True,
        starved_share: float = 0.5,
        starved_verdict: Literal["failure", "unknown"] = "failure",
        journal: tuple[str | PathLike[str], Backoff] | None = None,
        recorder: tuple[str | PathLike[str], int, str] | None = None,
    ) -> Self: ...
    def fileno(self) -> int:
        """The descriptor that is readable while a batch waits; the same for the life of the prober."""
    def now(self) -> int:
        """The engine's monotonic clock in nanoseconds. It begins at one day."""
    def wall_ms(self) -> int:
        """The wall clock that the prober compares ``startedAt`` with, in Unix milliseconds."""
    def advance(self, ns: int) -> None:
        """Puts both clocks forward by ``ns`` nanoseconds, so that tests need not wait. Whatever becomes due in between
        is carried out at once, and each worker runs once. Attempts in flight keep the time they have left. The clock
        cannot pass 2**63 - 1.

        Raises:
            InvalidInputError: the clock would pass its end.
        """
    def drain(self) -> Batch:
        """Takes everything that changed since the last call."""
    def close(self) -> None:
        """Ends the thread and drops attempts in flight with their sockets. A journal gets its last changes, unless the
        disk takes longer than two seconds. A second call does nothing."""
    def define_pod(self, pod: bytes) -> None:
        """Takes a defaulted v1.Pod as JSON; a pod with the same UID is replaced for later AddPod calls.

        Raises:
            InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
        """
    def change_probes(self, uid: str) -> None:
        """Gives a pod that runs and does not end the probes with which it was last defined. Workers go on with their
        counts; a run in flight ends by the old probe.

        Raises:
            UnknownPodError: no pod with this UID was defined.
        """
    def sync_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncPod: builds the status from the runtime's facts, then UpdatePodStatus, SetPodStatus and AddPod (kubelet
        kubelet.go:SyncPod, 1.36). Returns the status.

        Raises:
            InvalidInputError: ``facts`` are none, or they have an unknown key.
            UnknownPodError: no pod with this UID was defined.
        """
    def begin_pod(self, uid: str, status: bytes) -> None:
        """SetPodStatus, then AddPod: for a pod whose containers run already, with their ``ready`` and ``started``, with
        which its probes begin. SyncPod would take a container without a worker for started, and ready.

        Raises:
            InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
            UnknownPodError: no pod with this UID was defined.
        """
    def sync_terminating_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncTerminatingPod: as ``sync_pod``, but StopLivenessAndStartup in place of AddPod.

        Raises:
            InvalidInputError: ``facts`` are none, or they have an unknown key.
            UnknownPodError: no pod with this UID was defined.
        """
    def status(self, uid: str) -> bytes | None:
        """The status as last set, with the Ready and Started of every result since; None if none was set."""
    def forget_pod(self, uid: str) -> None:
        """RemovePod, and drops the pod's definition and status."""
    def add_pod(self, pod: bytes, deleting: bool = False) -> None:
        """AddPod: starts a worker for each probe of a defaulted v1.Pod; probes that have one go on as they are. The
        caller keeps the pod's status. ``deleting``: the pod has a deletionTimestamp, whatever the JSON says.

        Raises:
            InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
        """
    def set_pod_status(self, uid: str, status: bytes) -> None:
        """Sets the status that workers read: which containers run, and since when. The caller keeps it up to date.

        Raises:
            InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
        """
    def remove_pod_status(self, uid: str) -> None:
        """Removes the status that workers read; until it is set again, the pod's workers make no attempt."""
    def update_pod_status(self, uid: str, status: bytes) -> bytes:
        """UpdatePodStatus: returns the given status with ``ready`` and ``started`` from the results; stores nothing.

        Raises:
            InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
        """
    def remove_pod(self, uid: str) -> None:
        """RemovePod: ends the pod's workers. Its results go when the workers have ended."""
    def stop_liveness_and_startup(self, uid: str) -> None:
        """StopLivenessAndStartup: ends these workers of a pod that is being deleted; readiness goes on."""
    def pause(self, uid: str, container: str, probe_type: _ProbeType, until_ns: int) -> None:
        """A probe makes no attempt before ``until_ns`` on the clock of ``now``, and keeps its result meanwhile; an
        attempt in flight ends as usual. An ``until_ns`` that has passed ends the pause.

        Raises:
            InvalidInputError: there is no such probe type.
            UnknownPodError: no pod with this UID was defined.
        """
    def recheck(self, uid: str, container: str) -> bool:
        """Takes the Failure of a container's liveness probe back, so that its kill may wait: the result becomes
        Unknown and the probe goes on; its next failed run is a Failure again. False if no failure rests there; then
        nothing changes.
        """
    def cleanup_pods(self, desired: list[str]) -> None:
        """CleanupPods: ends the workers of every pod whose UID is not in ``desired``."""
    def result(self, probe_type: _ProbeType, container_id: str) -> _ResultName | None:
        """The cached result of a container; None without one.

        Raises:
            InvalidInputError: there is no such probe type.
        """
    def finish_execs(self, finished: list[ExecEnd]) -> None:
        """Hands back exec attempts; unknown runs are ignored."""
    def use_helper(self, socket: int, pidfd: int) -> None:
        """From now on exec attempts in described containers go to this helper, without a batch. The engine duplicates
        both descriptors: the socket to the helper, which from now on nobody else may read, and its pidfd, by which it
        kills a helper that answers no ping for a second. A helper that was used before is lost.

        Raises:
            InvalidInputError: a descriptor is below 0.
            OSError: a descriptor is not open, or the process has none left.
        """
    def lose_helper(self, why: str) -> None:
        """There is no helper any more: its attempts in flight are prober errors with ``why``, and no container is
        described."""
    def describe_container(self, container_id: str, description: bytes) -> None:
        """Gives the engine the helper's description of a container, ``type://id``. An exec attempt there comes in a
        batch only if the helper refuses it (``ExecRun.refusal``) or its request is longer than 128 KiB. The caller
        bounds the number of containers. Without a helper it does nothing."""
    def forget_container(self, container_id: str) -> None:
        """Exec attempts in this container come in batches again."""
    def enter_exec(
        self, run: int, description: bytes, argv: list[str], timeout_seconds: int
    ) -> tuple[int, int, int] | None:
        """Gives the helper a command in a container with this description; ``Batch.entered`` says what becomes of it.
        ``run`` is the ``ExecRun.run`` of an attempt that is to be answered. Returns why no helper can have the command,
        as ``ExecRun.refusal`` has it, and then no batch mentions it."""
    def direct_counts(self) -> tuple[int, int]:
        """How many exec attempts the helper has carried out for the engine, and how many are in flight."""
    def watch_turns(self) -> None:
        """From now on ``Batch.turns`` has each attempt that says something new."""
    def doubt(self, ip: str, ports: list[int]) -> None:
        """From now on an attempt that is answered at one of these ports waits for ``judge``, until an answer of that
        port was judged to be the pod's own. ``ports`` are from 0 to 65535.

        Raises:
            InvalidInputError: ``ip`` is no IP address.
        """
    def forget_doubts(self, ip: str) -> None:
        """Doubts no port of this address any more, because no pod has it.

        Raises:
            InvalidInputError: ``ip`` is no IP address.
        """
    def enter_network(self, uid: str, path: str | PathLike[str]) -> bool:
        """From now on the pod's probes with the option ``network: pod`` are made from inside the network namespace at
        ``path``, which stays open until ``leave_network``. False if it is the one of this process; then they go the
        ordinary way.

        Raises:
            OSError: there is no namespace at ``path``, or it cannot be entered. Nothing has changed then.
        """
    def share_network(self, uid: str) -> None:
        """From now on the pod's probes with ``network: pod`` go the ordinary way, because it is on the node's
        network."""
    def close_network(self, uid: str, why: str) -> None:
        """From now on the pod's probes with ``network: pod`` are prober errors with ``why``, or go the ordinary way if
        their ``networkFallback`` says so.
        """
    def leave_network(self, uid: str) -> None:
        """Closes the pod's network namespace once no attempt is in flight in it."""
    def judge(self, answer: int, word: Literal["own", "foreign", "unknown"], why: str = "") -> None:
        """Says whose an answer of ``Batch.answers`` is; an unknown number is ignored.

        ``own``: it is the pod's own and counts. ``foreign``: the attempt counts as a refused connection, with ``why``
        in its text. ``unknown``: it is a prober error with ``why``; so is an answer without a call for two seconds.

        Raises:
            InvalidInputError: there is no such ``word``.
        """
    def arm(self, deadline_ns: int, token: int) -> int:
        """Arms a timer on the engine's wheel; ``token`` comes back in ``Batch.timers``. Returns an ID for
        ``cancel``."""
    def when_journalled(self, token: int) -> None:
        """Puts ``token`` into ``Batch.timers`` once the journal has on disk what the engine knows now. It comes without
        that if there is no journal, and if the disk refuses a write or takes longer than five seconds."""
    def cancel(self, timer: int) -> bool:
        """Cancels a timer; False if it has fired or was cancelled before."""
    def probe_states(self, uid: str | None = None, history: int = 0) -> bytes:
        """The workers of a pod, or of all pods, as JSON: ``[{"pod_uid", "container", "type", "handler",
        "container_id", "result", "result_run", "failure_threshold", "success_threshold", "on_hold", "runs",
        "failures", "errors", "next_at_ms", "beats", "last": {"at_ms", "outcome", "cause", "message", "duration_ms",
        "lateness_ms", "overdue_ms", "phases_ms"} | null}]``. A probe with options has the key "options" too. With
        ``history``, from 1 to 64, each has ``"history"``: ``{"attempts": [A], "failures": [A with "message"]}`` with
        A = ``{"at_ms", "outcome", "cause", "duration_ms", "lateness_ms"}``: as many of the last attempts as ``history``
        says and the last four failures, oldest first. ``beats`` is the last 64 attempts, oldest first, a character
        each: ``.`` good, ``~`` good but late by 100 ms and more, ``w`` warning, ``!`` failure, ``?`` prober error.

        Raises:
            InvalidInputError: ``history`` is not from 0 to 64.
        """
    def slowest_answers(self, most: int) -> list[tuple[str, str, _ProbeType, int]]:
        """How long slow answers take: pod, container, type and nanoseconds of the slowest one of a worker's last 64
        attempts, for each worker that has made 64 runs since this said its answer last. Attempts that ended in a prober
        error or began 100 ms late and more do not count; one that ran into its timeout took so long at least. Of more
        than ``most`` workers the others come in the next call.

        Raises:
            InvalidInputError: ``most`` is below 0.
        """
    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``: the kubelet's names and label sets."""
    def metrics(self) -> bytes:
        """Our own bounded series for ``/metrics`` (runs, durations, lateness, in flight, queue depths)."""
    def metrics_enhanced(self) -> bytes:
        """The part of ``/metrics`` about enhanced liveness, which has an engine and names of its own."""

@final
class Simulation:
    """The same prober under a virtual clock with scripted outcomes: hours in milliseconds, the same every time.

    Times are virtual milliseconds since t = 0, which lies on a whole second of the wall clock (Unix time 0). Inputs
    only change state; what follows from them happens in ``settle``, ``run_until`` and ``run_until_update``.
    ``help(probelet._rust)`` says what a pod, facts and a status are in JSON. ``probelet.testing.VirtualNode`` has a
    whole node around it.

    Args:
        warmup_ms: how long before t = 0 the prober started, from 0 to 2**41 (69 years).
        seed: of the jitter of first probes.
        kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
        semantics: what results mean. ``kubelet``: the kubelet acts on them. ``enhanced``: they only report, and the
            cluster decides, as in OpenKruise's proposal of an enhanced liveness probe: liveness begins as ``Unknown``,
            is ``Unknown`` while the container does not run, goes on after a failure and during a pod's deletion, and
            counts each new container from 0.
        glue: which results change a status. ``kubelet`` does all that the kubelet does, ``none`` nothing, and a list
            with commas some of ``readiness``, ``startup`` and ``sync``.
        record: keep the lines that ``take_records`` returns.
        sockets: a probe other than exec asks a real socket while the virtual clock stands still; without, it is
            scripted too.
        user_agent: the ``User-Agent`` of probes over real sockets.
        phase: which moment a worker's periods count from: ``kubelet`` the worker's start, ``spread`` one of its own
            from the second attempt on, so that workers that start together spread.

    Raises:
        InvalidInputError: an argument has a value that is not allowed.
    """

    def __new__(
        cls,
        *,
        warmup_ms: int = 3_600_000,
        seed: int = 0,
        kubelet_version: str = "1.36",
        semantics: Literal["kubelet", "enhanced"] = "kubelet",
        glue: str = "kubelet",
        record: bool = True,
        sockets: bool = False,
        user_agent: str = "kube-probe/1.36",
        phase: Literal["kubelet", "spread"] = "kubelet",
    ) -> Self: ...
    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since t = 0; at most 2**41."""
    @property
    def runs(self) -> int:
        """Runs that have ended, prober errors among them."""
    def script(self, key: str, steps: bytes) -> None:
        """Scripts the attempts of ``pod/container/type``, or of ``namespace/pod/container/type``, which comes first;
        the pod may be defined later.

        ``steps`` is a JSON list of ``{"outcome": "success" | "failure" | "error" | "timeout" | "hang", "repeat",
        "delay_ms", "hang_ms", "ignore_timeout", "output", "output_repeat", "error", "exit_code"}``, of which only
        ``outcome`` is required. The last entry repeats for ever; a worker without a script succeeds.

        Raises:
            InvalidInputError: ``key`` is no such name, or ``steps`` are no list of steps, or have an unknown key.
        """
    def define_pod(self, pod: bytes) -> None:
        """Takes a defaulted v1.Pod as JSON; a pod with the same UID is replaced for later ``add_pod`` calls.

        Raises:
            InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
        """
    def change_probes(self, uid: str) -> None:
        """Gives a pod that runs the probes with which it was last defined. Workers go on with their counts.

        Raises:
            UnknownPodError: no pod with this UID was defined.
        """
    def add_pod(self, uid: str) -> None:
        """AddPod: starts a worker for each probe of a pod; probes that have one go on as they are.

        Raises:
            UnknownPodError: no pod with this UID was defined.
        """
    def set_pod_status(self, uid: str, status: bytes) -> None:
        """Sets the status that workers read: which containers run, and since when.

        Raises:
            InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
        """
    def remove_pod_status(self, uid: str) -> None:
        """Removes the status that workers read; until it is set again, the pod's workers make no attempt."""
    def update_pod_status(self, uid: str, status: bytes) -> bytes:
        """UpdatePodStatus: returns the given status with ``ready`` and ``started`` from the results; stores nothing.

        Raises:
            InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
        """
    def sync_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncPod: builds the status from the runtime's facts, then UpdatePodStatus, SetPodStatus and AddPod (kubelet
        kubelet.go:SyncPod, 1.36). Returns the status.

        Raises:
            InvalidInputError: ``facts`` are none, or they have an unknown key.
            UnknownPodError: no pod with this UID was defined.
        """
    def sync_terminating_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncTerminatingPod: as ``sync_pod``, but StopLivenessAndStartup in place of AddPod.

        Raises:
            InvalidInputError: ``facts`` are none, or they have an unknown key.
            UnknownPodError: no pod with this UID was defined.
        """
    def sync_terminated_pod(self, uid: str, facts: bytes) -> bytes:
        """SyncTerminatedPod: as ``sync_pod``, but workers are neither added nor stopped.

        Raises:
            InvalidInputError: ``facts`` are none, or they have an unknown key.
            UnknownPodError: no pod with this UID was defined.
        """
    def status(self, uid: str) -> bytes | None:
        """The status as last set, with the Ready and Started of every result since; None if none was set."""
    def remove_pod(self, uid: str) -> None:
        """RemovePod: ends the pod's workers. Its results go when the workers have ended."""
    def stop_liveness_and_startup(self, uid: str) -> None:
        """StopLivenessAndStartup: ends these workers of a pod that is being deleted; readiness goes on."""
    def recheck(self, uid: str, container: str) -> bool:
        """Takes the Failure of a container's liveness probe back, so that its kill may wait: the result becomes
        Unknown and the probe goes on; its next failed run is a Failure again. False if no failure rests there; then
        nothing changes.
        """
    def mark_deleting(self, uid: str) -> None:
        """Sets deletionTimestamp on the object that running workers hold, which the kubelet never does."""
    def cleanup_pods(self, desired: list[str]) -> None:
        """CleanupPods: ends the workers of every pod whose UID is not in ``desired``."""
    def settle(self) -> None:
        """Lets everything happen that is due now."""
    def run_until(self, t_ms: int) -> None:
        """Plays on until ``t_ms``, the activity of that moment included. ``t_ms`` is from -2**41 to 2**41; a moment
        that is over changes nothing."""
    def run_until_update(self, t_ms: int, probe_type: _ProbeType, container_id: str | None = None) -> bool:
        """As ``run_until``, but stops at the first result of that type that changes; says whether one did. With
        ``container_id`` only that container's result counts."""
    def next_ms(self) -> int | None:
        """When something happens without a further input; None if nothing ever does."""
    def take_records(self) -> bytes:
        """What was written since the last call: a JSON list of lines, each with its ``section`` (``probes``,
        ``results``, ``updates``, ``events``, ``updated``, ``stored``, ``syncs`` or ``timers``). Without ``record``
        there are none."""
    def watch_turns(self) -> None:
        """From now on ``take_changes`` has a line ``turns`` for the first attempt of a probe, a good one after a bad
        one and the first ten bad ones in a row, with ``t_ms``, ``pod_uid``, ``container``, ``type``, ``is_good``,
        ``cause``, ``overdue_ms`` and ``message``."""
    def take_changes(self) -> bytes:
        """As ``take_records``, of a simulation that ``ClusterModel`` made: only events, updates and syncs. A repeated
        event of a probe is left out."""
    def workers(self) -> list[tuple[str, str, _ProbeType]]:
        """Pod, container and type of every live worker."""
    def result(self, probe_type: _ProbeType, container_id: str) -> _ResultName | None:
        """The cached result of a container; None without one.

        Raises:
            InvalidInputError: there is no such probe type.
        """
    def metrics(self) -> bytes:
        """Names and counts of every live worker, as a JSON list of ``{"namespace", "pod", "pod_uid", "container",
        "probe_type", "successful", "failed", "errors"}``."""

@final
class ClusterModel:
    """The containers of a cluster in virtual time: how they answer, the load that they share, the dependencies that
    they ask. ``probelet.VirtualCluster`` has a whole cluster around it.

    Times are nanoseconds since t = 0 and never go back. Containers and Services have numbers, which the calls that
    add them return. Spreads are ``{"shape": "constant" | "uniform" | "log_normal", "low_ns", "high_ns",
    "per_day_ns"}``; of a log-normal one ``low_ns`` is the median and ``high_ns`` the 99th percentile.

    Args:
        seed: of all random numbers.
        attempts: how many attempts are kept of each probe.
    """

    def __new__(cls, *, seed: int, attempts: int) -> Self: ...
    def add_container(self, uid: str, pod: str, name: str, description: bytes) -> int:
        """Adds a container that does not run yet; returns its number. ``description`` is a JSON object with
        ``startup``, ``latency``, ``probe_latency``, ``concurrency``, ``queue``, ``asks``, ``apart``,
        ``exits_after``, ``pause``, ``leak``, ``factor``, ``late_ns``, ``cut_off`` and ``cut``.

        Raises:
            InvalidInputError: the description is none, or names an unknown dependency.
        """
    def describe(self, now_ns: int, number: int, description: bytes) -> None:
        """Describes a container anew.

        Raises:
            InvalidInputError: the description is none, names an unknown dependency, or there is no such container.
        """
    def start(self, now_ns: int, number: int, more_ns: int) -> tuple[int, int | None]:
        """A container starts; ``more_ns`` is added to its start-up. Returns when it serves, and when it ends by itself
        or None.

        Raises:
            InvalidInputError: there is no such container.
        """
    def end(self, now_ns: int, number: int) -> None:
        """A container has ended; the requests that it held are lost.

        Raises:
            InvalidInputError: there is no such container.
        """
    def deadlock(self, now_ns: int, number: int) -> None:
        """A container stands still until it is started again.

        Raises:
            InvalidInputError: there is no such container.
        """
    def dependency(self, now_ns: int, name: str, description: bytes) -> None:
        """Describes a dependency, a new one or one that is known: a JSON object with ``latency``, ``asks`` (names of
        dependencies that were described before) and ``health`` (``up``, ``refuses`` or ``hangs``).

        Raises:
            InvalidInputError: the description is none, or names an unknown dependency.
        """
    def add_service(self, now_ns: int, description: bytes) -> int:
        """Adds a Service without endpoints; returns its number. ``description`` is a JSON object with ``timeout_ns``,
        ``slo_ns`` and ``rate``.

        Raises:
            InvalidInputError: the description is none.
        """
    def describe_service(self, now_ns: int, number: int, description: bytes) -> None:
        """Describes a Service anew.

        Raises:
            InvalidInputError: the description is none, or there is no such Service.
        """
    def set_endpoints(self, now_ns: int, number: int, endpoints: list[int]) -> None:
        """Sends the requests of a Service to these containers from now on, in equal parts.

        Raises:
            InvalidInputError: there is no such Service or container.
        """
    def requests(self, now_ns: int, number: int) -> bytes:
        """The requests of a Service until now, as JSON: ``offered``, ``served``, ``late``, ``lost``, ``lost_by``, and
        ``steps`` of ``width_ns`` from t = 0 on, each with what was offered, served and late in it.

        Raises:
            InvalidInputError: there is no such Service.
        """
    def attempts(self) -> bytes:
        """Every probe that was made, as a JSON list of ``{"uid", "container", "type", "made", "failed", "attempts"}``.
        An attempt is a list: when it began and how long it took in nanoseconds, its outcome, its cause, and why."""
    @staticmethod
    def simulation(
        *, seed: int, kubelet_version: str, starts_ns: int | None = None, recall: Simulation | None = None
    ) -> Simulation:
        """A simulation whose probes ask this model's containers; ``run`` plays it. It keeps the lines of events,
        updates and syncs for ``Simulation.take_changes``.

        Args:
            seed: of the jitter of first probes.
            kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
            starts_ns: when the prober starts; None: an hour before t = 0.
            recall: an earlier simulation, whose counters and results the prober knows, as from a journal.

        Raises:
            InvalidInputError: ``kubelet_version`` is not known.
        """
    def run(self, simulations: list[Simulation], until_ns: int) -> tuple[int, bool]:
        """Plays these simulations until ``until_ns``, but not beyond a moment in which a pod asks for a sync. On return
        all are at one moment, and everything that was due until then has happened. Returns that moment, and whether
        a pod asks for a sync."""

@final
class Decision:
    """What ``Backoff`` answers about the start of a container. Equal fields make equal decisions.

    A field that does not belong to ``word`` is 0 or False.
    """

    @property
    def word(self) -> Literal["start", "wait", "never"]:
        """``start``: the container starts now. ``wait``: it may start at ``due_ns``. ``never``: it does not run
        again."""
    @property
    def due_ns(self) -> int:
        """Of ``wait``: when the container may start, on the clock of the arguments."""
    @property
    def delay_ns(self) -> int:
        """Of ``wait``: the stored delay, in nanoseconds."""
    @property
    def free(self) -> bool:
        """Of ``start``: no delay stood before it."""

@final
class Backoff:
    """Keyed exponential back-off of container restarts (client-go ``flowcontrol.Backoff`` as the kubelet has it, 1.36).

    A key stands for one container of a pod. A table belongs to one clock: ``now_ns`` and ``finished_ns`` are
    nanoseconds on it. An ``initial_ns`` above ``max_ns`` counts as ``max_ns``; with either at 0 no restart is delayed.

    Args:
        initial_ns: the first delay.
        max_ns: the longest delay.
        reset_ns: a container that ran this long begins anew.
        factor_milli: a start multiplies the delay by this many thousandths, at least 1000, up to ``max_ns``.
        first_free: a container without an entry starts at once. Without, it waits ``initial_ns`` after its exit
            (kubernetes#123602).

    Raises:
        InvalidInputError: a number is out of its range.
    """

    def __new__(
        cls,
        *,
        initial_ns: int = 10_000_000_000,
        max_ns: int = 300_000_000_000,
        reset_ns: int = 600_000_000_000,
        factor_milli: int = 2_000,
        first_free: bool = True,
    ) -> Self: ...
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
    ) -> Decision:
        """The start decision of a container (kubelet kuberuntime_manager.go:doBackOff, 1.36): whether it runs again,
        and when.

        ``finished_ns`` and ``exit_code`` are of its last exit, None before its first. ``rules`` are the container's
        ``restartPolicyRules`` as JSON. ``own`` is the first and the longest delay, in nanoseconds, of a container with
        a curve of its own.

        Raises:
            InvalidInputError: a number, the policy or the rules are not allowed.
        """
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
        """The stored delay of a key, in nanoseconds; 0 without an entry."""
    def step(self, key: str) -> int:
        """How many doublings the key has seen; 0 without an entry."""
    def note_start(self, key: str, now_ns: int) -> None:
        """A start that no decision led to: the delay stays, the run counts from ``now_ns``."""
    def reset(self, key: str) -> bool:
        """Drops the entry of a key; False without one."""
    def collect(self, now_ns: int) -> int:
        """Drops every entry that has not been used for ``reset_ns``; returns how many."""
    def __len__(self) -> int: ...

@final
class RestartSpec:
    """What decides whether a container that has ended runs again: the pod's policy, the container's own, its rules.

    Args:
        pod: the pod's ``restartPolicy``: ``Always``, ``OnFailure`` or ``Never``.
        own: the container's ``restartPolicy``, one of the same words.
        rules: the container's ``restartPolicyRules`` as ``(action, operator, exit codes)`` with the API's words:
            ``Restart`` or ``RestartAllContainers``, and ``In`` or ``NotIn``. The first rule that matches an exit code
            counts.

    Raises:
        InvalidInputError: a word is not one of these, or an exit code has more than 32 bits.
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
    """When the kubelet's pod worker looks again at a pod whose sync failed (pod_workers.go:completeWork, 1.36).

    Args:
        seed: of the jitter.
    """

    def __new__(cls, *, seed: int = 0) -> Self: ...
    def look_again(self, due_ns: int | None, now_ns: int) -> int:
        """The rest of the wait, at most a minute, times 1 to 1.5, and then the next whole second; never early.

        ``due_ns``: when the first refused start of the pod may happen. None: none was refused, something else failed;
        the wait is 10 s then.
        """

@final
class CrashModel:
    """One kind of container that crashes, and the rules it is restarted under: the live manager's start decision.

    Args:
        initial_ns: as in ``Backoff``, at least a millisecond.
        max_ns: as in ``Backoff``, at least a millisecond.
        reset_ns: as in ``Backoff``.
        factor_milli: as in ``Backoff``.
        jitter_milli: each delay grows at random by up to this many thousandths of the delay before.
        first_free: as in ``Backoff``.
        run_min_ns: the shortest life. The length of each life is drawn evenly from here to ``run_max_ns``.
        run_max_ns: the longest life.
        exit_code: of every exit.
        policy: ``Always``, ``OnFailure`` or ``Never``.
        by_kubelet: the kubelet's sync loop (relist, re-queue, housekeeping) wakes the container; without, an exact
            timer does.

    Raises:
        InvalidInputError: a number is out of its range, or ``policy`` is no policy.
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
        container had to wait, 0 if none. They are tuples because a list may have millions of them.
        """

@final
class CrashLoad:
    """Restarts of many containers, counted in slots.

    Args:
        window_ns: the count is from 0 to this moment, both included; at least 1.
        slot_ns: the length of a slot, at least 1; a window has at most 1,000,000 slots.

    Raises:
        InvalidInputError: a number is out of its range.
    """

    def __new__(cls, *, window_ns: int, slot_ns: int) -> Self: ...
    def add(self, model: CrashModel, *, containers: int, spread_ns: int = 0, seed: int = 0) -> None:
        """Adds containers whose first starts are spread evenly over ``spread_ns``. Ctrl-C ends it."""
    @property
    def restarts(self) -> int:
        """All restarts."""
    @property
    def slots(self) -> list[int]:
        """Restarts by slot: after its beginning and up to its end, the first one from 0 on."""

@final
class TokenBucket:
    """A token bucket. It starts full.

    With an ``interval_ns`` of 0 it is always full.

    Args:
        burst: how many tokens it holds at most, from 1 to 2**32 - 1.
        interval_ns: the time after which it gets one token back, in nanoseconds.

    Raises:
        InvalidInputError: a number is out of its range.
    """

    def __new__(cls, *, burst: int, interval_ns: int) -> Self: ...
    def take(self, now_ns: int, tokens: int = 1) -> bool:
        """Takes so many tokens at once, or none; says whether it did. ``tokens`` is from 1 to 2**32 - 1; for more than
        ``burst`` it is always False.

        Raises:
            InvalidInputError: a number is out of its range.
        """
    def reserve(self, now_ns: int) -> int:
        """Takes the next token, which may not be there yet; returns when it will be. Each call gets a later token."""
    def due(self, now_ns: int) -> int:
        """When there will be a token if nobody takes one; ``now_ns`` if there is one already."""
    def available(self, now_ns: int) -> int:
        """How many tokens there are."""

@final
class TimerWheel:
    """A hierarchical timer wheel: FIFO among equal deadlines; arming, cancelling and firing a timer are O(1)."""

    def __new__(cls) -> Self: ...
    def arm(self, deadline_ns: int, token: int) -> int:
        """Arms a timer; ``fire`` returns its ``token``, which is from -2**63 to 2**63 - 1. Returns an ID for
        ``cancel``."""
    def cancel(self, timer: int) -> bool:
        """Cancels a timer; False if it has fired or was cancelled before."""
    def fire(self, now_ns: int) -> list[int]:
        """The tokens due at ``now_ns``, in order of (deadline, arm)."""
    def next_deadline(self) -> int | None:
        """The earliest deadline; None without a timer."""
    def __len__(self) -> int: ...
