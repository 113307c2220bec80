//! `Simulation`: the production core under a virtual clock.

use std::collections::BTreeSet;
use std::time::Duration;

use probelet_engine::json::{decode_pod, decode_status};
use probelet_engine::pods::PodCalls;
use probelet_engine::simulation::{self, Scene, decode_steps};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::error::{self, InputError, glue, known, phasing, release};

#[pyclass(module = "probelet._rust")]
pub(crate) struct Simulation(simulation::Simulation);

#[pymethods]
impl Simulation {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    #[pyo3(signature = (
        *, warmup_ms = 3_600_000, seed = 0, kubelet_version = "1.36", glue = "kubelet", record = true,
        sockets = false, user_agent = "kube-probe/1.36", phase = "kubelet"
    ))]
    fn new(
        #[pyo3(from_py_with = argument::warmup_ms)] warmup_ms: i64,
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        kubelet_version: &str,
        glue: &str,
        record: bool,
        sockets: bool,
        user_agent: &str,
        phase: &str,
    ) -> Result<Self, InputError> {
        Ok(Self(simulation::Simulation::new(Scene {
            semantics: release(kubelet_version)?,
            seed,
            warmup: Duration::from_millis(warmup_ms.unsigned_abs()),
            glue: self::glue(glue)?,
            phasing: phasing(phase)?,
            record,
            sockets,
            user_agent: user_agent.to_owned(),
        })))
    }

    fn script(&mut self, key: &str, steps: &[u8]) -> Result<(), InputError> {
        self.0.script(key, decode_steps(steps)?);
        Ok(())
    }

    fn define_pod(&mut self, pod: &[u8]) -> Result<(), InputError> {
        self.0.define_pod(decode_pod(pod)?);
        Ok(())
    }

    fn add_pod(&mut self, uid: &str) -> Result<(), InputError> {
        if self.0.add_pod(uid) { Ok(()) } else { Err(InputError::UnknownPod(uid.to_owned())) }
    }

    fn set_pod_status(&mut self, uid: &str, status: &[u8]) -> Result<(), InputError> {
        self.0.set_pod_status(uid, decode_status(status)?);
        Ok(())
    }

    fn remove_pod_status(&mut self, uid: &str) {
        self.0.remove_pod_status(uid);
    }

    fn update_pod_status<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        status: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let filled = self.0.update_pod_status(uid, decode_status(status)?);
        Ok(PyBytes::new(py, &filled.to_json()))
    }

    fn sync_pod<'py>(&mut self, py: Python<'py>, uid: &str, facts: &[u8]) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    fn sync_terminating_pod<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        facts: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_terminating_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    fn sync_terminated_pod<'py>(
        &mut self,
        py: Python<'py>,
        uid: &str,
        facts: &[u8],
    ) -> Result<Bound<'py, PyBytes>, InputError> {
        let status = known(self.0.sync_terminated_pod(uid, decode_status(facts)?), uid)?;
        Ok(PyBytes::new(py, &status))
    }

    fn status<'py>(&self, py: Python<'py>, uid: &str) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, &self.0.status(uid)?.to_json()))
    }

    fn remove_pod(&mut self, uid: &str) {
        self.0.remove_pod(uid);
    }

    fn stop_liveness_and_startup(&mut self, uid: &str) {
        self.0.stop_liveness_and_startup(uid);
    }

    fn mark_deleting(&mut self, uid: &str) {
        self.0.prober().mark_deleting(uid);
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists of text by value")]
    fn cleanup_pods(&mut self, desired: Vec<String>) {
        self.0.cleanup_pods(&desired.iter().map(String::as_str).collect::<BTreeSet<_>>());
    }

    fn settle(&mut self, py: Python<'_>) {
        py.detach(|| self.0.settle());
    }

    fn run_until(&mut self, py: Python<'_>, #[pyo3(from_py_with = argument::t_ms)] t_ms: i64) {
        py.detach(|| self.0.run_until(t_ms));
    }

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

    fn next_ms(&mut self) -> Option<i64> {
        self.0.next_ms()
    }

    #[getter]
    fn now_ms(&self) -> i64 {
        self.0.now_ms()
    }

    #[getter]
    const fn runs(&self) -> u64 {
        self.0.runs()
    }

    fn take_records<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.records_json())
    }

    fn workers(&mut self) -> Vec<(String, String, &'static str)> {
        let prober = self.0.prober();
        let states = prober.worker_states(None).into_iter();
        states
            .map(|state| {
                (
                    state.target.pod.name.to_string(),
                    state.target.container.name.to_string(),
                    state.target.probe_type.name(),
                )
            })
            .collect()
    }

    fn result(&self, probe_type: &str, container_id: &str) -> Result<Option<&'static str>, InputError> {
        let result = self.0.result(error::probe_type(probe_type)?, container_id);
        Ok(result.map(|result| result.name()))
    }

    fn metrics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.counts_json())
    }
}
