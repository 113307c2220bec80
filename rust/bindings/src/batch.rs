//! What crosses to Python: one batch of changes, as plain objects.

use probelet_engine::live;
use pyo3::prelude::*;

#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct ExecRun {
    run: u64,
    pod_uid: String,
    container: String,
    probe_type: &'static str,
    container_id: String,
    argv: Vec<String>,
    timeout_seconds: i32,
}

#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Update {
    probe_type: &'static str,
    container_id: String,
    pod_uid: String,
    result: Option<&'static str>,
}

#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct EventRecord {
    at_ms: i64,
    pod_uid: String,
    field_path: String,
    r#type: &'static str,
    reason: &'static str,
    message: String,
    streak: Option<(i32, i32)>,
}

#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Batch {
    updates: Vec<Py<Update>>,
    syncs: Vec<String>,
    events: Vec<Py<EventRecord>>,
    execs: Vec<Py<ExecRun>>,
    timers: Vec<u64>,
    dropped_events: u64,
    notices: Vec<(&'static str, String)>,
}

impl Batch {
    pub(crate) fn of(py: Python<'_>, batch: live::Batch) -> PyResult<Self> {
        let updates = batch.updates.iter().map(|update| {
            let update = Update {
                probe_type: update.probe_type.name(),
                container_id: update.container_id.to_string(),
                pod_uid: update.pod_uid.to_string(),
                result: update.result.map(|result| result.name()),
            };
            Py::new(py, update)
        });
        let events = batch.events.iter().map(|(at_ms, event)| {
            let event = EventRecord {
                at_ms: *at_ms,
                pod_uid: event.pod_uid.to_string(),
                field_path: event.field_path.to_string(),
                r#type: "Warning",
                reason: event.reason.name(),
                message: String::from_utf8_lossy(&event.message).into_owned(),
                streak: event.streak.map(|streak| (streak.failures, streak.threshold)),
            };
            Py::new(py, event)
        });
        let execs = batch.execs.iter().map(|exec| {
            let exec = ExecRun {
                run: exec.run,
                pod_uid: exec.pod_uid.to_string(),
                container: exec.container.to_string(),
                probe_type: exec.probe_type.name(),
                container_id: exec.container_id.to_string(),
                argv: exec.argv.iter().map(ToString::to_string).collect(),
                timeout_seconds: exec.timeout_seconds,
            };
            Py::new(py, exec)
        });
        Ok(Self {
            updates: updates.collect::<PyResult<_>>()?,
            events: events.collect::<PyResult<_>>()?,
            execs: execs.collect::<PyResult<_>>()?,
            syncs: batch.syncs.iter().map(ToString::to_string).collect(),
            timers: batch.timers,
            dropped_events: batch.dropped_events,
            notices: batch.notices.into_iter().map(level_and_text).collect(),
        })
    }
}

fn level_and_text(notice: live::Notice) -> (&'static str, String) {
    (if notice.is_warning { "warning" } else { "info" }, notice.text)
}
