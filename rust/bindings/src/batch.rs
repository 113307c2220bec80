//! What crosses to Python: one batch of changes, as plain objects.

use probelet_engine::live;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::exec_end::ExecEnd;

// Each getter makes its Python object on every call: an attempt has a dozen fields, and Python reads few of them twice.
/// One exec attempt that the engine asks Python to carry out through CRI ExecSync. ``Batch.execs`` lists them.
#[pyclass(name = "ExecRun", module = "probelet._rust", frozen)]
pub(crate) struct ExecAttempt(live::ExecAttempt);

#[pymethods]
impl ExecAttempt {
    /// The attempt's number, for the ``ExecEnd`` that answers it.
    #[getter]
    fn run(&self) -> u64 {
        self.0.id
    }

    /// The pod's UID.
    #[getter]
    fn pod_uid(&self) -> &str {
        &self.0.pod.uid
    }

    /// The container's name.
    #[getter]
    fn container(&self) -> &str {
        self.0.container()
    }

    /// ``liveness``, ``readiness`` or ``startup``.
    #[getter]
    fn probe_type(&self) -> &'static str {
        self.0.probe_type.name()
    }

    /// The container's ID, ``type://id``.
    #[getter]
    fn container_id(&self) -> &str {
        &self.0.container_id
    }

    /// The command with its variables expanded.
    #[getter]
    fn argv(&self) -> Vec<&str> {
        self.0.argv().iter().map(AsRef::as_ref).collect()
    }

    /// The probe's ``timeoutSeconds``.
    #[getter]
    fn timeout_seconds(&self) -> i32 {
        self.0.timeout_seconds()
    }

    /// When its worker's schedule has it, on the clock of ``Engine.now``.
    #[getter]
    fn due_ns(&self) -> u64 {
        self.0.due.as_nanos()
    }

    /// Why the helper did not start the command (rust/enter-protocol/src/answer.rs): the numbers of ``Refusal`` and
    /// ``Step``, and the system's error number. None if the engine did not ask the helper.
    #[getter]
    fn refusal(&self) -> Option<Refusal> {
        self.0.refusal.map(numbers)
    }
}

/// Why the helper did not start a command, as ``ExecRun.refusal`` has it.
type Refusal = (u8, u8, i32);

/// What became of a command of ``Engine.enter_exec``. ``Batch.entered`` lists them.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct EnteredExec {
    /// The attempt's number.
    run: u64,
    /// How the command ended; None if it did not start, or if an earlier batch said it.
    end: Option<Py<ExecEnd>>,
    /// Why it did not start, as ``ExecRun.refusal`` has it.
    refusal: Option<Refusal>,
    /// Whether every process of the command has ended. If not, another ``EnteredExec`` without ``end`` says so
    /// later.
    is_over: bool,
}

impl EnteredExec {
    fn of(py: Python<'_>, entered: live::EnteredExec) -> PyResult<Py<Self>> {
        let live::EnteredExec { id: run, outcome, is_over } = entered;
        let (end, refusal) = match outcome {
            Some(Ok(end)) => (Some(Py::new(py, ExecEnd::of_engine(py, run, &end))?), None),
            Some(Err(refusal)) => (None, Some(numbers(refusal))),
            None => (None, None),
        };
        Py::new(py, Self { run, end, refusal, is_over })
    }
}

/// A refusal as Python has it.
pub(crate) const fn numbers(refusal: live::Refusal) -> Refusal {
    (refusal.why, refusal.step, refusal.errno)
}

/// A result that changed; the latest one of each probe type and container. ``Batch.updates`` lists them.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Update {
    /// ``liveness``, ``readiness`` or ``startup``.
    probe_type: &'static str,
    /// The container's ID, ``type://id``.
    container_id: String,
    /// The pod's UID.
    pod_uid: String,
    /// ``Success``, ``Failure`` or ``Unknown``; None for a result that is no longer cached, because its worker has
    /// ended or sees another container.
    result: Option<&'static str>,
}

/// An event that the prober wants recorded (kubelet ``prober.recordContainerEvent``, 1.36). ``Batch.events`` lists
/// them.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct EventRecord {
    /// When, in milliseconds since the Unix epoch.
    at_ms: i64,
    /// The pod's UID.
    pod_uid: String,
    /// ``involvedObject.fieldPath``, such as ``spec.containers{app}``.
    field_path: String,
    /// The event's type; that of a probe is ``Warning``.
    r#type: &'static str,
    /// ``Unhealthy`` or ``ProbeWarning``.
    reason: &'static str,
    /// The kubelet's text; bytes of a target that are not UTF-8 are replaced.
    message: String,
    /// Of a failed run: failures in a row with this one, at most the threshold in force; and that threshold.
    streak: Option<(i32, i32)>,
}

/// An attempt that says something new: the first one of a worker in this engine, a good one after a bad one, and the
/// first ten bad ones in a row. ``Batch.turns`` lists them.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct TurnRecord {
    /// The pod's UID.
    pod_uid: String,
    /// The container's name.
    container: String,
    /// ``liveness``, ``readiness`` or ``startup``.
    probe_type: &'static str,
    /// When the attempt ended, in milliseconds since the Unix epoch.
    at_ms: i64,
    /// True for success and warning, false for failure and error.
    is_good: bool,
    /// Why it ended so; ``ok`` where nothing is wrong, and ``starved`` where the prober itself was late.
    cause: &'static str,
    /// How late it began against the worker's own grid.
    lateness_ms: f64,
    /// How long the prober's own loop was overdue while it ran.
    overdue_ms: f64,
    /// What it said, at most 256 bytes; empty for a success.
    message: String,
}

impl From<&live::Turn> for TurnRecord {
    fn from(turn: &live::Turn) -> Self {
        let live::Turn { pod_uid, container, probe_type, attempt } = turn;
        Self {
            pod_uid: pod_uid.to_string(),
            container: container.to_string(),
            probe_type: probe_type.name(),
            at_ms: attempt.at_ms,
            is_good: attempt.outcome.is_good(),
            cause: attempt.cause.name(),
            lateness_ms: attempt.lateness.as_micros() as f64 / 1_000.0,
            overdue_ms: attempt.overdue.as_micros() as f64 / 1_000.0,
            message: attempt.message.to_string(),
        }
    }
}

/// A line for the log: the journal's, at the start and when writing stops or starts to work; and starved
/// attempts. ``Batch.notices`` lists them.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Notice {
    /// True if something is wrong.
    is_warning: bool,
    /// The line.
    text: String,
}

/// Everything that changed since the last ``Engine.drain``.
#[pyclass(module = "probelet._rust", frozen, get_all)]
pub(crate) struct Batch {
    /// Results that changed.
    updates: Py<PyList>,
    /// UIDs of pods whose results ask for a sync.
    syncs: Py<PyList>,
    /// Events of the prober, oldest first; 10,000 and 16 MiB at most.
    events: Py<PyList>,
    /// Attempts that say something new, oldest first, 10,000 at most; none before ``Engine.watch_turns``.
    turns: Py<PyList>,
    /// Answers from addresses in doubt, for ``Engine.judge``: a number, the IP address, the port.
    answers: Py<PyList>,
    /// Exec attempts to carry out; ``Engine.finish_execs`` takes their ends.
    execs: Py<PyList>,
    /// What became of the commands of ``Engine.enter_exec``.
    entered: Py<PyList>,
    /// Tokens of the timers of ``Engine.arm`` that were due, in order.
    timers: Py<PyList>,
    /// How many of the oldest events were dropped, because nobody drained.
    dropped_events: u64,
    /// How many of the oldest turns were dropped for the same reason.
    dropped_turns: u64,
    /// Lines for the log.
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
        let entered = batch.entered.into_iter().map(|entered| EnteredExec::of(py, entered));
        let answers = batch.answers.iter().map(|answer| {
            let live::SuspectAnswer { id, address } = *answer;
            (id, address.ip().to_string(), address.port())
        });
        let turns = batch.turns.iter().map(|turn| Py::new(py, TurnRecord::from(turn)));
        let syncs = batch.syncs.iter().map(|uid| &**uid);
        Ok(Self {
            updates: list(py, updates.collect::<PyResult<Vec<_>>>()?)?,
            events: list(py, events.collect::<PyResult<Vec<_>>>()?)?,
            turns: list(py, turns.collect::<PyResult<Vec<_>>>()?)?,
            answers: list(py, answers.collect())?,
            execs: list(py, execs.collect::<PyResult<Vec<_>>>()?)?,
            entered: list(py, entered.collect::<PyResult<Vec<_>>>()?)?,
            syncs: list(py, syncs.collect())?,
            timers: list(py, batch.timers)?,
            dropped_events: batch.dropped_events,
            dropped_turns: batch.dropped_turns,
            notices: list(py, notices.collect::<PyResult<Vec<_>>>()?)?,
        })
    }
}

fn list<'py, T: IntoPyObject<'py>>(py: Python<'py>, items: Vec<T>) -> PyResult<Py<PyList>> {
    Ok(PyList::new(py, items)?.unbind())
}
