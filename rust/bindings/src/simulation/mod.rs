//! `Simulation`: the production core under a virtual clock.

mod virtual_cluster;

use std::collections::BTreeSet;
use std::time::Duration;

use probelet_engine::handler::ForSimulation;
use probelet_play::json::{decode_pod, decode_status};
use probelet_play::pods::PodCalls;
use probelet_play::simulation::{self, Scene, decode_steps};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) use self::virtual_cluster::ClusterModel;
use crate::argument;
use crate::error::{self, InputError, glue, known, phasing, worker};

/// The same prober under a virtual clock with scripted outcomes: hours in milliseconds, the same every time.
///
/// Times are virtual milliseconds since t = 0, which lies on a whole second of the wall clock (Unix time 0). Inputs
/// only change state; what follows from them happens in ``settle``, ``run_until`` and ``run_until_update``.
/// ``help(probelet._rust)`` says what a pod, facts and a status are in JSON. ``probelet.testing.VirtualNode`` has a
/// whole node around it.
///
/// Args:
///     warmup_ms: how long before t = 0 the prober started, from 0 to 2**41 (69 years).
///     seed: of the jitter of first probes.
///     kubelet_version: the release whose rules apply, ``1.34`` to ``1.38``.
///     semantics: what results mean. ``kubelet``: the kubelet acts on them. ``enhanced``: they only report, and the
///         cluster decides, as in OpenKruise's proposal of an enhanced liveness probe: liveness begins as ``Unknown``,
///         is ``Unknown`` while the container does not run, goes on after a failure and during a pod's deletion, and
///         counts each new container from 0.
///     glue: which results change a status. ``kubelet`` does all that the kubelet does, ``none`` nothing, and a list
///         with commas some of ``readiness``, ``startup`` and ``sync``.
///     record: keep the lines that ``take_records`` returns.
///     sockets: a probe other than exec asks a real socket while the virtual clock stands still; without, it is
///         scripted too.
///     user_agent: the ``User-Agent`` of probes over real sockets.
///     phase: which moment a worker's periods count from: ``kubelet`` the worker's start, ``spread`` one of its own
///         from the second attempt on, so that workers that start together spread.
///
/// Raises:
///     InvalidInputError: an argument has a value that is not allowed.
#[pyclass(module = "probelet")]
pub(crate) struct Simulation(pub(crate) simulation::Simulation);

#[pymethods]
impl Simulation {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    #[pyo3(signature = (
        *, warmup_ms = 3_600_000, seed = 0, kubelet_version = "1.36", semantics = "kubelet", glue = "kubelet", record = true,
        sockets = false, user_agent = "kube-probe/1.36", phase = "kubelet"
    ))]
    fn new(
        #[pyo3(from_py_with = argument::warmup_ms)] warmup_ms: i64,
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        kubelet_version: &str,
        semantics: &str,
        glue: &str,
        record: bool,
        sockets: bool,
        user_agent: &str,
        phase: &str,
    ) -> Result<Self, InputError> {
        let scene = Scene {
            semantics: error::semantics(kubelet_version, semantics)?,
            seed,
            warmup: Duration::from_millis(warmup_ms.unsigned_abs()),
            starts: None,
            glue: self::glue(glue)?,
            phasing: phasing(phase)?,
            record,
            sockets,
        };
        let handlers = ForSimulation { user_agent: user_agent.to_owned() };
        Ok(Self(simulation::Simulation::new(scene, Box::new(handlers))))
    }

    /// Scripts the attempts of ``pod/container/type``, or of ``namespace/pod/container/type``, which comes first;
    /// the pod may be defined later.
    ///
    /// ``steps`` is a JSON list of ``{"outcome": "success" | "failure" | "error" | "timeout" | "hang", "repeat",
    /// "delay_ms", "hang_ms", "ignore_timeout", "output", "output_repeat", "error", "exit_code"}``, of which only
    /// ``outcome`` is required. The last entry repeats for ever; a worker without a script succeeds.
    ///
    /// Raises:
    ///     InvalidInputError: ``key`` is no such name, or ``steps`` are no list of steps, or have an unknown key.
    fn script(&mut self, key: &str, steps: &[u8]) -> Result<(), InputError> {
        self.0.script(worker(key)?, decode_steps(steps)?);
        Ok(())
    }

    /// Takes a defaulted v1.Pod as JSON; a pod with the same UID is replaced for later ``add_pod`` calls.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no v1.Pod, or it has an unknown key; the text has the path.
    fn define_pod(&mut self, pod: &[u8]) -> Result<(), InputError> {
        self.0.define_pod(decode_pod(pod)?);
        Ok(())
    }

    /// Gives a pod that runs the probes with which it was last defined. Workers go on with their counts.
    ///
    /// Raises:
    ///     UnknownPodError: no pod with this UID was defined.
    fn change_probes(&mut self, uid: &str) -> Result<(), InputError> {
        if self.0.change_probes(uid) { Ok(()) } else { Err(InputError::UnknownPod(uid.to_owned())) }
    }

    /// AddPod: starts a worker for each probe of a pod; probes that have one go on as they are.
    ///
    /// Raises:
    ///     UnknownPodError: no pod with this UID was defined.
    fn add_pod(&mut self, uid: &str) -> Result<(), InputError> {
        if self.0.add_pod(uid) { Ok(()) } else { Err(InputError::UnknownPod(uid.to_owned())) }
    }

    /// Sets the status that workers read: which containers run, and since when.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
    fn set_pod_status(&mut self, uid: &str, status: &[u8]) -> Result<(), InputError> {
        self.0.set_pod_status(uid, decode_status(status)?);
        Ok(())
    }

    /// Removes the status that workers read; until it is set again, the pod's workers make no attempt.
    fn remove_pod_status(&mut self, uid: &str) {
        self.0.remove_pod_status(uid);
    }

    /// UpdatePodStatus: returns the given status with ``ready`` and ``started`` from the results; stores nothing.
    ///
    /// Raises:
    ///     InvalidInputError: the JSON is no status, or it has an unknown key; the text has the path.
    fn update_pod_status<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        status: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let filled = self.0.update_pod_status(uid, decode_status(status)?);
        Ok(PyBytes::new(py, &filled.to_json()))
    }

    /// SyncPod: builds the status from the runtime's facts, then UpdatePodStatus, SetPodStatus and AddPod (kubelet
    /// kubelet.go:SyncPod, 1.36). Returns the status.
    ///
    /// Raises:
    ///     InvalidInputError: ``facts`` are none, or they have an unknown key.
    ///     UnknownPodError: no pod with this UID was defined.
    fn sync_pod<'py>(&mut self, py: Python<'py>, uid: &str, facts: &[u8]) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    /// SyncTerminatingPod: as ``sync_pod``, but StopLivenessAndStartup in place of AddPod.
    ///
    /// Raises:
    ///     InvalidInputError: ``facts`` are none, or they have an unknown key.
    ///     UnknownPodError: no pod with this UID was defined.
    fn sync_terminating_pod<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        facts: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_terminating_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    /// SyncTerminatedPod: as ``sync_pod``, but workers are neither added nor stopped.
    ///
    /// Raises:
    ///     InvalidInputError: ``facts`` are none, or they have an unknown key.
    ///     UnknownPodError: no pod with this UID was defined.
    fn sync_terminated_pod<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        facts: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_terminated_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    /// The status as last set, with the Ready and Started of every result since; None if none was set.
    fn status<'py>(&self, py: Python<'py>, uid: &str) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, &self.0.status(uid)?.to_json()))
    }

    /// RemovePod: ends the pod's workers. Its results go when the workers have ended.
    fn remove_pod(&mut self, uid: &str) {
        self.0.remove_pod(uid);
    }

    /// StopLivenessAndStartup: ends these workers of a pod that is being deleted; readiness goes on.
    fn stop_liveness_and_startup(&mut self, uid: &str) {
        self.0.stop_liveness_and_startup(uid);
    }

    /// Takes the Failure of a container's liveness probe back, so that its kill may wait: the result becomes
    /// Unknown and the probe goes on; its next failed run is a Failure again. False if no failure rests there; then
    /// nothing changes.
    fn recheck(&mut self, uid: &str, container: &str) -> bool {
        self.0.recheck(uid, container)
    }

    /// Sets deletionTimestamp on the object that running workers hold, which the kubelet never does.
    fn mark_deleting(&mut self, uid: &str) {
        self.0.prober().mark_deleting(uid);
    }

    /// CleanupPods: ends the workers of every pod whose UID is not in ``desired``.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists of text by value")]
    fn cleanup_pods(&mut self, desired: Vec<String>) {
        self.0.cleanup_pods(&desired.iter().map(String::as_str).collect::<BTreeSet<_>>());
    }

    /// Lets everything happen that is due now.
    fn settle(&mut self, py: Python<'_>) {
        py.detach(|| self.0.settle());
    }

    /// Plays on until ``t_ms``, the activity of that moment included. ``t_ms`` is from -2**41 to 2**41; a moment
    /// that is over changes nothing.
    fn run_until(&mut self, py: Python<'_>, #[pyo3(from_py_with = argument::t_ms)] t_ms: i64) {
        py.detach(|| self.0.run_until(t_ms));
    }

    /// As ``run_until``, but stops at the first result of that type that changes; says whether one did. With
    /// ``container_id`` only that container's result counts.
    #[pyo3(signature = (t_ms, probe_type, container_id = None))]
    fn run_until_update(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::t_ms)] t_ms: i64,
        probe_type: &str,
        container_id: Option<&str>,
    ) -> Result<bool, InputError> {
        let probe_type = error::probe_type(probe_type)?;
        Ok(py.detach(|| self.0.run_until_update(t_ms, probe_type, container_id)))
    }

    /// When something happens without a further input; None if nothing ever does.
    fn next_ms(&mut self) -> Option<i64> {
        self.0.next_ms()
    }

    /// Virtual milliseconds since t = 0; at most 2**41.
    #[getter]
    fn now_ms(&self) -> i64 {
        self.0.now_ms()
    }

    /// Runs that have ended, prober errors among them.
    #[getter]
    const fn runs(&self) -> u64 {
        self.0.runs()
    }

    /// What was written since the last call: a JSON list of lines, each with its ``section`` (``probes``,
    /// ``results``, ``updates``, ``events``, ``updated``, ``stored``, ``syncs`` or ``timers``). Without ``record``
    /// there are none.
    fn take_records<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.records_json())
    }

    /// From now on ``take_changes`` has a line ``turns`` for the first attempt of a probe, a good one after a bad
    /// one and the first ten bad ones in a row, with ``t_ms``, ``pod_uid``, ``container``, ``type``, ``is_good``,
    /// ``cause``, ``overdue_ms`` and ``message``.
    const fn watch_turns(&mut self) {
        self.0.watch_turns();
    }

    /// As ``take_records``, of a simulation that ``ClusterModel`` made: only events, updates and syncs. A repeated
    /// event of a probe is left out.
    fn take_changes<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.changes_json())
    }

    /// Pod, container and type of every live worker.
    fn workers(&mut self) -> Vec<(String, String, &'static str)> {
        let prober = self.0.prober();
        let states = prober.worker_states(None).into_iter();
        states
            .map(|state| {
                (
                    state.target.pod.name.to_string(),
                    state.target.container().name.to_string(),
                    state.target.probe_type.name(),
                )
            })
            .collect()
    }

    /// The cached result of a container; None without one.
    ///
    /// Raises:
    ///     InvalidInputError: there is no such probe type.
    fn result(&self, probe_type: &str, container_id: &str) -> Result<Option<&'static str>, InputError> {
        let result = self.0.result(error::probe_type(probe_type)?, container_id);
        Ok(result.map(|result| result.name()))
    }

    /// Names and counts of every live worker, as a JSON list of ``{"namespace", "pod", "pod_uid", "container",
    /// "probe_type", "successful", "failed", "errors"}``.
    fn metrics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.counts_json())
    }
}
