//! `Engine`: the live prober, behind methods that never wait for I/O.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::status::Glue;
use probelet_core::time::Instant;
use probelet_core::timer::TimerId;
use probelet_engine::live::{self, JournalOptions, Options, RecorderOptions};
use probelet_engine::stats::worker::SlowestAnswer;
use probelet_play::json::{decode_pod, decode_status};
use probelet_play::pods::PodCalls;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::backoff::Backoff;
use crate::batch::{Batch, numbers};
use crate::error::{InputError, known, phasing, probe_type, semantics, starving};
use crate::exec_end::ExecEnd;

/// The live prober, ``probelet.Prober``: one Rust thread owns the sockets, the timer wheel and the clock.
///
/// ``fileno`` is readable while a batch waits; an event loop watches it and calls ``drain``. Methods are safe to call
/// from any thread; none of them but ``close`` waits for I/O. The constructor starts the thread, and ``close`` ends it.
///
/// A node keeps its pods with ``define_pod``, ``sync_pod``, ``sync_terminating_pod`` and ``forget_pod``: the engine
/// keeps their statuses as the kubelet does. A caller that keeps the statuses itself uses ``add_pod``,
/// ``set_pod_status`` and the other calls of the kubelet's prober manager (pkg/kubelet/prober/prober_manager.go, 1.36).
/// ``help(probelet._rust)`` says what a pod, facts and a status are in JSON.
///
/// Args:
///     seed: of the jitter of first probes.
///     user_agent: the ``User-Agent`` of HTTP and gRPC probes.
///     kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
///     semantics: what results mean. ``kubelet``: the kubelet acts on them. ``enhanced``: they only report, and the
///         cluster decides, as in OpenKruise's proposal of an enhanced liveness probe: liveness begins as ``Unknown``,
///         is ``Unknown`` while the container does not run, goes on after a failure and during a pod's deletion, and
///         counts each new container from 0.
///     start_jitter: delay first probes at random after the start of the prober, as the kubelet does.
///     phase: which moment a worker's periods count from: ``kubelet`` the worker's start, ``spread`` one of its own
///         from the second attempt on, so that workers that start together spread.
///     wake_slack_ns: how late an attempt may begin so that it shares a wake-up with others, at most 100 ms. Any may be
///         a millisecond late, and four where all probes are exec probes.
///     extra_runs_per_second: how many runs a second all probes together may make between their ordinary ones, if
///         options of probes ask for any; 0 for no limit.
///     glue: results change statuses and ask for syncs. Without it they do neither, as it is in any case for the pods
///         of ``add_pod`` and ``set_pod_status``, whose caller acts on results itself.
///     starved_share: an attempt whose time runs out while the engine's own loop is late by more than this share of it
///         has the cause ``starved``. Finite and above 0.
///     starved_verdict: what such an attempt means: ``failure`` as in the kubelet, or ``unknown``, a prober error.
///     journal: a file, and the back-off table that is kept in it beside the probes' memory. What an earlier engine
///         left there is restored, except what is about another container, and entries of the table that are too old;
///         every change is written within 100 ms. A file that cannot be believed is renamed ``*.refused``; one that
///         cannot be written stops nothing; ``Batch.notices`` says so.
///     recorder: a directory for the flight recorder, made if it is missing; the bytes that it may have there, at least
///         1 MiB; and the node's name. Every attempt's end, result and call about a pod is written within a second or
///         two, in segments of which the oldest go first. A disk that hangs or is full stops nothing; ``Batch.notices``
///         says so.
///
/// Raises:
///     InvalidInputError: an argument has a value that is not allowed.
///     OSError: no thread or no file descriptor is left.
#[pyclass(name = "Prober", module = "probelet", frozen)]
pub(crate) struct Engine(std::sync::RwLock<live::Engine>);

impl Engine {
    /// Calls the engine with the GIL released. The engine locks its own state; only `close` needs the handle to itself.
    fn with<T: Send>(&self, py: Python<'_>, call: impl FnOnce(&live::Engine) -> T + Send) -> T {
        py.detach(|| call(&self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (
        *, seed = 0, user_agent = "kube-probe/1.36", kubelet_version = "1.36", semantics = "kubelet", start_jitter = true, phase = "kubelet",
        wake_slack_ns = 0, extra_runs_per_second = 0, glue = true, starved_share = 0.5, starved_verdict = "failure", journal = None,
        recorder = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        user_agent: &str,
        kubelet_version: &str,
        semantics: &str,
        start_jitter: bool,
        phase: &str,
        #[pyo3(from_py_with = argument::wake_slack_ns)] wake_slack_ns: u64,
        #[pyo3(from_py_with = argument::extra_runs_per_second)] extra_runs_per_second: u32,
        glue: bool,
        starved_share: f64,
        starved_verdict: &str,
        journal: Option<(PathBuf, Bound<'_, Backoff>)>,
        #[pyo3(from_py_with = argument::recorder)] recorder: Option<RecorderOptions>,
    ) -> PyResult<Self> {
        let journal = journal.map(|(path, table)| JournalOptions { path, table: Arc::clone(&table.get().0) });
        let options = Options {
            semantics: self::semantics(kubelet_version, semantics)?,
            seed,
            user_agent: user_agent.to_owned(),
            start_jitter,
            phasing: phasing(phase)?,
            wake_slack: Duration::from_nanos(wake_slack_ns),
            extra_runs_per_second,
            glue: if glue { Glue::KUBELET } else { Glue::NONE },
            starving: starving(starved_share, starved_verdict)?,
            journal,
            recorder,
        };
        let engine = live::Engine::start(options).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self(engine.into()))
    }

    /// The descriptor that is readable while a batch waits; the same for the life of the prober.
    fn fileno(&self, py: Python<'_>) -> i32 {
        self.with(py, |engine| engine.mailbox().fd())
    }

    /// The engine's monotonic clock in nanoseconds. It begins at one day.
    fn now(&self, py: Python<'_>) -> u64 {
        self.with(py, |engine| engine.now().as_nanos())
    }

    /// The wall clock that the prober compares ``startedAt`` with, in Unix milliseconds.
    fn wall_ms(&self, py: Python<'_>) -> i64 {
        self.with(py, live::Engine::wall_ms)
    }

    /// Puts both clocks forward by ``ns`` nanoseconds, so that tests need not wait. Whatever becomes due in between
    /// is carried out at once, and each worker runs once. Attempts in flight keep the time they have left. The clock
    /// cannot pass 2**63 - 1.
    ///
    /// Raises:
    ///     InvalidInputError: the clock would pass its end.
    fn advance(&self, py: Python<'_>, #[pyo3(from_py_with = argument::ns)] ns: u64) -> Result<(), InputError> {
        let left = argument::CLOCK_NS_MAX - self.now(py).min(argument::CLOCK_NS_MAX);
        if ns > left {
            let allowed = format!("at most {left}, because the clock then stands at its end");
            return Err(InputError::Argument { name: "ns", given: ns.to_string(), allowed });
        }
        self.with(py, |engine| engine.advance(Duration::from_nanos(ns)));
        Ok(())
    }

    /// Takes everything that changed since the last call.
    fn drain(&self, py: Python<'_>) -> PyResult<Batch> {
        let batch = self.with(py, |engine| engine.mailbox().drain());
        Batch::of(py, batch)
    }

    /// Ends the thread and drops attempts in flight with their sockets. A journal gets its last changes, unless the
    /// disk takes longer than two seconds. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).close());
    }

    /// Takes a defaulted v1.Pod as JSON; a pod with the same UID is replaced for later AddPod calls.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
    fn define_pod(&self, py: Python<'_>, pod: &[u8]) -> Result<(), InputError> {
        let pod = decode_pod(pod)?;
        self.with(py, |mut engine| engine.define_pod(pod));
        Ok(())
    }

    /// Gives a pod that runs and does not end the probes with which it was last defined. Workers go on with their
    /// counts; a run in flight ends by the old probe.
    ///
    /// Raises:
    ///     UnknownPodError: no pod with this UID was defined.
    fn change_probes(&self, py: Python<'_>, uid: &str) -> Result<(), InputError> {
        let is_defined = self.with(py, |mut engine| engine.change_probes(uid));
        if is_defined { Ok(()) } else { Err(InputError::UnknownPod(uid.to_owned())) }
    }

    /// SyncPod: builds the status from the runtime's facts, then UpdatePodStatus, SetPodStatus and AddPod (kubelet
    /// kubelet.go:SyncPod, 1.36). Returns the status.
    ///
    /// Raises:
    ///     InvalidInputError: ``facts`` are none, or they have an unknown key.
    ///     UnknownPodError: no pod with this UID was defined.
    fn sync_pod<'py>(&self, py: Python<'py>, uid: &str, facts: &[u8]) -> Result<Bound<'py, PyBytes>, InputError> {
        let facts = decode_status(facts)?;
        let status = known(self.with(py, |mut engine| engine.sync_pod(uid, facts)), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    /// SetPodStatus, then AddPod: for a pod whose containers run already, with their ``ready`` and ``started``, with
    /// which its probes begin. SyncPod would take a container without a worker for started, and ready.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
    ///     UnknownPodError: no pod with this UID was defined.
    fn begin_pod(&self, py: Python<'_>, uid: &str, status: &[u8]) -> Result<(), InputError> {
        let status = decode_status(status)?;
        let is_defined = self.with(py, |mut engine| {
            let is_defined = engine.read(|manager| manager.prober().pod(uid).is_some());
            if is_defined {
                engine.set_pod_status(uid, status);
                engine.recall_status(uid);
                engine.add_pod(uid);
            }
            is_defined
        });
        is_defined.then_some(()).ok_or_else(|| InputError::UnknownPod(uid.to_owned()))
    }

    /// SyncTerminatingPod: as ``sync_pod``, but StopLivenessAndStartup in place of AddPod.
    ///
    /// Raises:
    ///     InvalidInputError: ``facts`` are none, or they have an unknown key.
    ///     UnknownPodError: no pod with this UID was defined.
    fn sync_terminating_pod<'py>(
        &self,
        py: Python<'py>,
        uid: &str,
        facts: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let facts = decode_status(facts)?;
        let status = known(self.with(py, |mut engine| engine.sync_terminating_pod(uid, facts)), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    /// The status as last set, with the Ready and Started of every result since; None if none was set.
    fn status<'py>(&self, py: Python<'py>, uid: &str) -> Option<Bound<'py, PyBytes>> {
        let status = self.with(py, |engine| engine.status(uid))?;
        Some(PyBytes::new(py, &status.to_json()))
    }

    /// RemovePod, and drops the pod's definition and status.
    fn forget_pod(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.forget_pod(uid));
    }

    /// AddPod: starts a worker for each probe of a defaulted v1.Pod; probes that have one go on as they are. The
    /// caller keeps the pod's status. ``deleting``: the pod has a deletionTimestamp, whatever the JSON says.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
    #[pyo3(signature = (pod, deleting = false))]
    fn add_pod(&self, py: Python<'_>, pod: &[u8], deleting: bool) -> Result<(), InputError> {
        let mut pod = decode_pod(pod)?;
        pod.deleting |= deleting;
        self.with(py, |engine| engine.take_pod(pod));
        Ok(())
    }

    /// Sets the status that workers read: which containers run, and since when. The caller keeps it up to date.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
    fn set_pod_status(&self, py: Python<'_>, uid: &str, status: &[u8]) -> Result<(), InputError> {
        let status = decode_status(status)?;
        self.with(py, |engine| engine.take_pod_status(uid, status));
        Ok(())
    }

    /// Removes the status that workers read; until it is set again, the pod's workers make no attempt.
    fn remove_pod_status(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.remove_pod_status(uid));
    }

    /// UpdatePodStatus: returns the given status with ``ready`` and ``started`` from the results; stores nothing.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
    fn update_pod_status<'py>(
        &self,
        py: Python<'py>,
        uid: &str,
        status: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = decode_status(status)?;
        let filled = self.with(py, |mut engine| engine.update_pod_status(uid, status));
        Ok(PyBytes::new(py, &filled.to_json()))
    }

    /// RemovePod: ends the pod's workers. Its results go when the workers have ended.
    fn remove_pod(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.remove_pod(uid));
    }

    /// StopLivenessAndStartup: ends these workers of a pod that is being deleted; readiness goes on.
    fn stop_liveness_and_startup(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.stop_liveness_and_startup(uid));
    }

    /// A probe makes no attempt before ``until_ns`` on the clock of ``now``, and keeps its result meanwhile; an
    /// attempt in flight ends as usual. An ``until_ns`` that has passed ends the pause.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such probe type.
    ///     UnknownPodError: no pod with this UID was defined.
    #[pyo3(signature = (uid, container, probe_type, until_ns))]
    fn pause(
        &self,
        py: Python<'_>,
        uid: &str,
        container: &str,
        #[pyo3(from_py_with = probe_type_of)] probe_type: probelet_core::spec::ProbeType,
        until_ns: u64,
    ) -> Result<(), InputError> {
        let until = Instant::from_nanos(until_ns);
        let is_known = self.with(py, |engine| engine.pause(uid, container, probe_type, until));
        if is_known { Ok(()) } else { Err(InputError::UnknownPod(uid.to_owned())) }
    }

    /// Takes the Failure of a container's liveness probe back, so that its kill may wait: the result becomes
    /// Unknown and the probe goes on; its next failed run is a Failure again. False if no failure rests there; then
    /// nothing changes.
    fn recheck(&self, py: Python<'_>, uid: &str, container: &str) -> bool {
        self.with(py, |mut engine| engine.recheck(uid, container))
    }

    /// CleanupPods: ends the workers of every pod whose UID is not in ``desired``.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists of text by value")]
    fn cleanup_pods(&self, py: Python<'_>, desired: Vec<String>) {
        let desired: BTreeSet<&str> = desired.iter().map(String::as_str).collect();
        self.with(py, |mut engine| engine.cleanup_pods(&desired));
    }

    /// The cached result of a container; None without one.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such probe type.
    #[pyo3(signature = (probe_type, container_id))]
    fn result(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = probe_type_of)] probe_type: probelet_core::spec::ProbeType,
        container_id: &str,
    ) -> Option<&'static str> {
        self.with(py, |engine| engine.result(probe_type, container_id)).map(|result| result.name())
    }

    /// Hands back exec attempts; unknown runs are ignored.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists by value")]
    fn finish_execs(&self, py: Python<'_>, finished: Vec<Bound<'_, ExecEnd>>) {
        let ends = finished.iter().map(|end| end.get().to_engine(py)).collect();
        self.with(py, |engine| engine.finish_execs(ends));
    }

    /// From now on exec attempts in described containers go to this helper, without a batch. The engine duplicates
    /// both descriptors: the socket to the helper, which from now on nobody else may read, and its pidfd, by which it
    /// kills a helper that answers no ping for a second. A helper that was used before is lost.
    ///
    /// Raises:
    ///     InvalidInputError: a descriptor is below 0.
    ///     OSError: a descriptor is not open, or the process has none left.
    fn use_helper(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::socket)] socket: i32,
        #[pyo3(from_py_with = argument::pidfd)] pidfd: i32,
    ) -> PyResult<()> {
        // SAFETY: neither is -1, the caller keeps them open until this call returns, and another number is an error of
        // the system call that duplicates it.
        let (socket, pidfd) = unsafe { (BorrowedFd::borrow_raw(socket), BorrowedFd::borrow_raw(pidfd)) };
        let helper = live::HelperProcess::duplicate(socket, pidfd)?;
        self.with(py, |engine| engine.use_helper(helper));
        Ok(())
    }

    /// There is no helper any more: its attempts in flight are prober errors with ``why``, and no container is
    /// described.
    fn lose_helper(&self, py: Python<'_>, why: &str) {
        self.with(py, |engine| engine.lose_helper(why));
    }

    /// Gives the engine the helper's description of a container, ``type://id``. An exec attempt there comes in a
    /// batch only if the helper refuses it (``ExecRun.refusal``) or its request is longer than 128 KiB. The caller
    /// bounds the number of containers. Without a helper it does nothing.
    fn describe_container(&self, py: Python<'_>, container_id: &str, description: &[u8]) {
        self.with(py, |engine| engine.describe_container(container_id, description));
    }

    /// Exec attempts in this container come in batches again.
    fn forget_container(&self, py: Python<'_>, container_id: &str) {
        self.with(py, |engine| engine.forget_container(container_id));
    }

    /// Gives the helper a command in a container with this description; ``Batch.entered`` says what becomes of it.
    /// ``run`` is the ``ExecRun.run`` of an attempt that is to be answered. Returns why no helper can have the command,
    /// as ``ExecRun.refusal`` has it, and then no batch mentions it.
    fn enter_exec(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::run)] run: u64,
        description: &[u8],
        argv: Vec<String>,
        #[pyo3(from_py_with = argument::timeout_seconds)] timeout_seconds: i32,
    ) -> Option<(u8, u8, i32)> {
        let argv = argv.into_iter().map(Into::into).collect();
        self.with(py, |engine| engine.enter_exec(run, description, argv, timeout_seconds)).err().map(numbers)
    }

    /// How many exec attempts the helper has carried out for the engine, and how many are in flight.
    fn direct_counts(&self, py: Python<'_>) -> (u64, u64) {
        self.with(py, live::Engine::direct_counts)
    }

    /// From now on ``Batch.turns`` has each attempt that says something new.
    fn watch_turns(&self, py: Python<'_>) {
        self.with(py, live::Engine::watch_turns);
    }

    /// From now on an attempt that is answered at one of these ports waits for ``judge``, until an answer of that
    /// port was judged to be the pod's own. ``ports`` are from 0 to 65535.
    ///
    /// Raises:
    ///     InvalidInputError: ``ip`` is no IP address.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists by value")]
    fn doubt(&self, py: Python<'_>, ip: &str, ports: Vec<u16>) -> Result<(), InputError> {
        let ip = ip_address(ip)?;
        self.with(py, |engine| engine.doubt(ports.iter().map(|&port| SocketAddr::new(ip, port))));
        Ok(())
    }

    /// Doubts no port of this address any more, because no pod has it.
    ///
    /// Raises:
    ///     InvalidInputError: ``ip`` is no IP address.
    fn forget_doubts(&self, py: Python<'_>, ip: &str) -> Result<(), InputError> {
        let ip = ip_address(ip)?;
        self.with(py, |engine| engine.forget_doubts(ip));
        Ok(())
    }

    /// From now on the pod's probes with the option ``network: pod`` are made from inside the network namespace at
    /// ``path``, which stays open until ``leave_network``. False if it is the one of this process; then they go the
    /// ordinary way.
    ///
    /// Raises:
    ///     OSError: there is no namespace at ``path``, or it cannot be entered. Nothing has changed then.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts paths by value")]
    fn enter_network(&self, py: Python<'_>, uid: &str, path: PathBuf) -> PyResult<bool> {
        self.with(py, |engine| engine.enter_network(uid, &path)).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// From now on the pod's probes with ``network: pod`` go the ordinary way, because it is on the node's
    /// network.
    fn share_network(&self, py: Python<'_>, uid: &str) {
        self.with(py, |engine| engine.share_network(uid));
    }

    /// From now on the pod's probes with ``network: pod`` are prober errors with ``why``, or go the ordinary way if
    /// their ``networkFallback`` says so.
    fn close_network(&self, py: Python<'_>, uid: &str, why: &str) {
        self.with(py, |engine| engine.close_network(uid, why));
    }

    /// Closes the pod's network namespace once no attempt is in flight in it.
    fn leave_network(&self, py: Python<'_>, uid: &str) {
        self.with(py, |engine| engine.leave_network(uid));
    }

    /// Says whose an answer of ``Batch.answers`` is; an unknown number is ignored.
    ///
    /// ``own``: it is the pod's own and counts. ``foreign``: the attempt counts as a refused connection, with ``why``
    /// in its text. ``unknown``: it is a prober error with ``why``; so is an answer without a call for two seconds.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such ``word``.
    #[pyo3(signature = (answer, word, why = ""))]
    fn judge(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::answer)] answer: u64,
        word: &str,
        why: &str,
    ) -> Result<(), InputError> {
        let word = match word {
            "own" => live::Word::Own,
            "foreign" => live::Word::Foreign(why.into()),
            "unknown" => live::Word::Unknown(why.into()),
            _ => return Err(InputError::word("word", word, &["own", "foreign", "unknown"])),
        };
        self.with(py, |engine| engine.judge(answer, word));
        Ok(())
    }

    /// Arms a timer on the engine's wheel; ``token`` comes back in ``Batch.timers``. Returns an ID for
    /// ``cancel``.
    fn arm(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::deadline_ns)] deadline_ns: u64,
        #[pyo3(from_py_with = argument::token)] token: u64,
    ) -> u64 {
        self.with(py, |engine| engine.arm(Instant::from_nanos(deadline_ns), token).to_bits())
    }

    /// Puts ``token`` into ``Batch.timers`` once the journal has on disk what the engine knows now. It comes without
    /// that if there is no journal, and if the disk refuses a write or takes longer than five seconds.
    fn when_journalled(&self, py: Python<'_>, #[pyo3(from_py_with = argument::token)] token: u64) {
        self.with(py, |engine| engine.when_journalled(token));
    }

    /// Cancels a timer; False if it has fired or was cancelled before.
    fn cancel(&self, py: Python<'_>, #[pyo3(from_py_with = argument::timer)] timer: u64) -> bool {
        self.with(py, |engine| engine.cancel(TimerId::from_bits(timer)))
    }

    /// The workers of a pod, or of all pods, as JSON: ``[{"pod_uid", "container", "type", "handler",
    /// "container_id", "result", "result_run", "failure_threshold", "success_threshold", "on_hold", "runs",
    /// "failures", "errors", "next_at_ms", "beats", "last": {"at_ms", "outcome", "cause", "message", "duration_ms",
    /// "lateness_ms", "overdue_ms", "phases_ms"} | null}]``. A probe with options has the key "options" too. With
    /// ``history``, from 1 to 64, each has ``"history"``: ``{"attempts": [A], "failures": [A with "message"]}`` with
    /// A = ``{"at_ms", "outcome", "cause", "duration_ms", "lateness_ms"}``: as many of the last attempts as ``history``
    /// says and the last four failures, oldest first. ``beats`` is the last 64 attempts, oldest first, a character
    /// each: ``.`` good, ``~`` good but late by 100 ms and more, ``w`` warning, ``!`` failure, ``?`` prober error.
    ///
    /// Raises:
    ///     InvalidInputError: ``history`` is not from 0 to 64.
    #[pyo3(signature = (uid = None, history = 0))]
    fn probe_states<'py>(
        &self,
        py: Python<'py>,
        uid: Option<&str>,
        #[pyo3(from_py_with = argument::history)] history: usize,
    ) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, |engine| engine.probe_states(uid, history)))
    }

    /// How long slow answers take: pod, container, type and nanoseconds of the slowest one of a worker's last 64
    /// attempts, for each worker that has made 64 runs since this said its answer last. Attempts that ended in a prober
    /// error or began 100 ms late and more do not count; one that ran into its timeout took so long at least. Of more
    /// than ``most`` workers the others come in the next call.
    ///
    /// Raises:
    ///     InvalidInputError: ``most`` is below 0.
    fn slowest_answers(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::most)] most: usize,
    ) -> Vec<(String, String, &'static str, u64)> {
        let found = self.with(py, |engine| engine.slowest_answers(most));
        let row = |each: SlowestAnswer| {
            let took = u64::try_from(each.took.as_nanos()).unwrap_or(u64::MAX);
            (each.pod_uid.to_string(), each.container.to_string(), each.probe_type.name(), took)
        };
        found.into_iter().map(row).collect()
    }

    /// The page ``/metrics/probes``: the kubelet's names and label sets.
    fn metrics_probes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.with(py, live::Engine::metrics_probes).as_bytes())
    }

    /// Our own bounded series for ``/metrics`` (runs, durations, lateness, in flight, queue depths).
    fn metrics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.with(py, live::Engine::metrics).as_bytes())
    }

    /// The part of ``/metrics`` about enhanced liveness, which has an engine and names of its own.
    fn metrics_enhanced<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.with(py, live::Engine::metrics_enhanced).as_bytes())
    }
}

fn ip_address(text: &str) -> Result<IpAddr, InputError> {
    text.parse().map_err(|_| {
        let allowed = "an IP address".to_owned();
        InputError::Argument { name: "ip", given: format!("{text:?}"), allowed }
    })
}

fn probe_type_of(name: &Bound<'_, PyAny>) -> PyResult<probelet_core::spec::ProbeType> {
    Ok(probe_type(name.extract()?)?)
}
