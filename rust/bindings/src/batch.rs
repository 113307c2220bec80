//! What crosses to Python: one batch of changes, as plain objects.

use probelet_engine::live;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Each getter makes its Python object on every call: an attempt has a dozen fields, and Python reads few of them twice.
#[pyclass(name = "ExecRun", module = "probelet._rust", frozen)]
pub(crate) struct ExecAttempt(live::ExecAttempt);

#[pymethods]
impl ExecAttempt {
    #[getter]
    fn run(&self) -> u64 {
        self.0.id
    }

    #[getter]
    fn pod_uid(&self) -> &str {
        &self.0.pod.uid
    }

    #[getter]
    fn container(&self) -> &str {
        self.0.container()
    }

    #[getter]
    fn probe_type(&self) -> &'static str {
        self.0.probe_type.name()
    }

    #[getter]
    fn container_id(&self) -> &str {
        &self.0.container_id
    }

    #[getter]
    fn argv(&self) -> Vec<&str> {
        self.0.argv().iter().map(AsRef::as_ref).collect()
    }

    #[getter]
    fn timeout_seconds(&self) -> i32 {
        self.0.timeout_seconds()
    }

    #[getter]
    fn due_ns(&self) -> u64 {
        self.0.due.as_nanos()
    }
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
pub(crate) struct Notice {
    is_warning: bool,
    text: String,
}

#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Batch {
    updates: Py<PyList>,
    syncs: Py<PyList>,
    events: Py<PyList>,
    answers: Py<PyList>,
    execs: Py<PyList>,
    timers: Py<PyList>,
    dropped_events: u64,
    notices: Py<PyList>,
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
        let notices =
            batch.notices.into_iter().map(|live::Notice { is_warning, text }| Py::new(py, Notice { is_warning, text }));
        let execs = batch.execs.into_iter().map(|exec| Py::new(py, ExecAttempt(exec)));
        let answers = batch.answers.iter().map(|answer| {
            let live::DoubtedAnswer { id, address } = *answer;
            (id, address.ip().to_string(), address.port())
        });
        let syncs = batch.syncs.iter().map(|uid| &**uid);
        Ok(Self {
            updates: list(py, updates.collect::<PyResult<Vec<_>>>()?)?,
            events: list(py, events.collect::<PyResult<Vec<_>>>()?)?,
            answers: list(py, answers.collect())?,
            execs: list(py, execs.collect::<PyResult<Vec<_>>>()?)?,
            syncs: list(py, syncs.collect())?,
            timers: list(py, batch.timers)?,
            dropped_events: batch.dropped_events,
            notices: list(py, notices.collect::<PyResult<Vec<_>>>()?)?,
        })
    }
}

fn list<'py, T: IntoPyObject<'py>>(py: Python<'py>, items: Vec<T>) -> PyResult<Py<PyList>> {
    Ok(PyList::new(py, items)?.unbind())
}
