//! `Engine`: the live prober, behind methods that never wait for I/O.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::status::Glue;
use probelet_core::time::Instant;
use probelet_core::timer::TimerId;
use probelet_engine::json::{decode_pod, decode_status};
use probelet_engine::live::{self, JournalOptions, Options};
use probelet_engine::pods::PodCalls;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::backoff::Backoff;
use crate::batch::Batch;
use crate::error::{InputError, known, phasing, probe_type, release, starving};
use crate::exec_end::ExecEnd;

#[pyclass(module = "probelet._rust", frozen)]
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
        *, seed = 0, user_agent = "kube-probe/1.36", kubelet_version = "1.36", start_jitter = true, phase = "kubelet",
        glue = true, starved_share = 0.5, starved_verdict = "failure", journal = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        #[pyo3(from_py_with = argument::seed)] seed: u64,
        user_agent: &str,
        kubelet_version: &str,
        start_jitter: bool,
        phase: &str,
        glue: bool,
        starved_share: f64,
        starved_verdict: &str,
        journal: Option<(PathBuf, Bound<'_, Backoff>)>,
    ) -> PyResult<Self> {
        let journal = journal.map(|(path, table)| JournalOptions { path, table: Arc::clone(&table.get().0) });
        let options = Options {
            semantics: release(kubelet_version)?,
            seed,
            user_agent: user_agent.to_owned(),
            start_jitter,
            phasing: phasing(phase)?,
            glue: if glue { Glue::KUBELET } else { Glue::NONE },
            starving: starving(starved_share, starved_verdict)?,
            journal,
        };
        let engine = live::Engine::start(options).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self(engine.into()))
    }

    fn fileno(&self, py: Python<'_>) -> i32 {
        self.with(py, |engine| engine.mailbox().fd())
    }

    fn now(&self, py: Python<'_>) -> u64 {
        self.with(py, |engine| engine.now().as_nanos())
    }

    fn wall_ms(&self, py: Python<'_>) -> i64 {
        self.with(py, live::Engine::wall_ms)
    }

    fn advance(&self, py: Python<'_>, #[pyo3(from_py_with = argument::ns)] ns: u64) -> Result<(), InputError> {
        let left = argument::CLOCK_NS_MAX - self.now(py).min(argument::CLOCK_NS_MAX);
        if ns > left {
            let allowed = format!("at most {left}, because the clock then stands at its end");
            return Err(InputError::Argument { name: "ns", given: ns.to_string(), allowed });
        }
        self.with(py, |engine| engine.advance(Duration::from_nanos(ns)));
        Ok(())
    }

    fn drain(&self, py: Python<'_>) -> PyResult<Batch> {
        let batch = self.with(py, |engine| engine.mailbox().drain());
        Batch::of(py, batch)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).close());
    }

    fn define_pod(&self, py: Python<'_>, pod: &[u8]) -> Result<(), InputError> {
        let pod = decode_pod(pod)?;
        self.with(py, |mut engine| engine.define_pod(pod));
        Ok(())
    }

    fn sync_pod<'py>(&self, py: Python<'py>, uid: &str, facts: &[u8]) -> Result<Bound<'py, PyBytes>, InputError> {
        let facts = decode_status(facts)?;
        let status = known(self.with(py, |mut engine| engine.sync_pod(uid, facts)), uid)?;
        Ok(PyBytes::new(py, &status))
    }

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

    fn status<'py>(&self, py: Python<'py>, uid: &str) -> Option<Bound<'py, PyBytes>> {
        let status = self.with(py, |engine| engine.status(uid))?;
        Some(PyBytes::new(py, &status.to_json()))
    }

    fn forget_pod(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.forget_pod(uid));
    }

    #[pyo3(signature = (pod, deleting = false))]
    fn add_pod(&self, py: Python<'_>, pod: &[u8], deleting: bool) -> Result<(), InputError> {
        let mut pod = decode_pod(pod)?;
        pod.deleting |= deleting;
        self.with(py, |engine| engine.take_pod(pod));
        Ok(())
    }

    fn set_pod_status(&self, py: Python<'_>, uid: &str, status: &[u8]) -> Result<(), InputError> {
        let status = decode_status(status)?;
        self.with(py, |engine| engine.take_pod_status(uid, status));
        Ok(())
    }

    fn remove_pod_status(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.remove_pod_status(uid));
    }

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

    fn remove_pod(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.remove_pod(uid));
    }

    fn stop_liveness_and_startup(&self, py: Python<'_>, uid: &str) {
        self.with(py, |mut engine| engine.stop_liveness_and_startup(uid));
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists of text by value")]
    fn cleanup_pods(&self, py: Python<'_>, desired: Vec<String>) {
        let desired: BTreeSet<&str> = desired.iter().map(String::as_str).collect();
        self.with(py, |mut engine| engine.cleanup_pods(&desired));
    }

    #[pyo3(signature = (probe_type, container_id))]
    fn result(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = probe_type_of)] probe_type: probelet_core::spec::ProbeType,
        container_id: &str,
    ) -> Option<&'static str> {
        self.with(py, |engine| engine.result(probe_type, container_id)).map(|result| result.name())
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists by value")]
    fn finish_execs(&self, py: Python<'_>, finished: Vec<Bound<'_, ExecEnd>>) {
        let ends = finished.iter().map(|end| end.get().to_engine(py)).collect();
        self.with(py, |engine| engine.finish_execs(ends));
    }

    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts lists by value")]
    fn doubt(&self, py: Python<'_>, ip: &str, ports: Vec<u16>) -> Result<(), InputError> {
        let ip = ip_address(ip)?;
        self.with(py, |engine| engine.doubt(ports.iter().map(|&port| SocketAddr::new(ip, port))));
        Ok(())
    }

    fn forget_doubts(&self, py: Python<'_>, ip: &str) -> Result<(), InputError> {
        let ip = ip_address(ip)?;
        self.with(py, |engine| engine.forget_doubts(ip));
        Ok(())
    }

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

    fn arm(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = argument::deadline_ns)] deadline_ns: u64,
        #[pyo3(from_py_with = argument::token)] token: u64,
    ) -> u64 {
        self.with(py, |engine| engine.arm(Instant::from_nanos(deadline_ns), token).to_bits())
    }

    fn cancel(&self, py: Python<'_>, #[pyo3(from_py_with = argument::timer)] timer: u64) -> bool {
        self.with(py, |engine| engine.cancel(TimerId::from_bits(timer)))
    }

    #[pyo3(signature = (uid = None))]
    fn probe_states<'py>(&self, py: Python<'py>, uid: Option<&str>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, |engine| engine.probe_states(uid)))
    }

    fn metrics_probes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.with(py, live::Engine::metrics_probes).as_bytes())
    }

    fn metrics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.with(py, live::Engine::metrics).as_bytes())
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
