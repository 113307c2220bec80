//! The Python module `probelet._rust`. It checks and converts arguments and calls the core and the engine; it decides
//! nothing itself. Its manual is the stub.

mod argument;
mod backoff;
mod batch;
mod certificate;
mod crashloop;
mod decision;
mod engine;
mod error;
mod exec_end;
mod hello;
mod journal;
mod once;
mod recording;
mod restart;
mod simulation;
mod text;
mod timing;

use pyo3::prelude::*;

/// The Rust half of probelet: the prober, its parts and its virtual clock.
///
/// Times are integers: ``*_ns`` are nanoseconds on the engine's monotonic clock (``Engine.now``), ``*_ms`` are
/// milliseconds since the Unix epoch. An integer is from 0 to 2**64 - 1 unless its method says otherwise; an exit
/// code has 32 bits and a sign. Structured values cross as JSON bytes, in batches, never per probe.
///
/// A number, a word or a document that a method does not allow raises ``probelet.errors.InvalidInputError``, which is a
/// ``ValueError``. Its text is one line with the argument, its value and what is allowed; of a document, the path of
/// the first mistake, such as an unknown key. An argument of another Python type raises ``TypeError``.
///
/// Documents
///     A *pod* is a v1.Pod with its defaults set: an absent number is 0. Every key of v1.Pod is allowed. The prober
///     reads ``metadata`` (``uid``, ``name``, ``namespace``, ``deletionTimestamp``), the condition ``Ready`` of
///     ``status``, and of each container and init container the name, ``ports``, ``env``, restart policies and probes.
///
///     The *facts* of a runtime are ``{"phase", "pod_ip", "containers": [F], "init_containers": [F]}`` with F =
///     ``{"name", "id", "state": "running" | "waiting" | "terminated", "started_at_ms", "exit_code"}``. Only ``name``
///     and ``state`` are required; ``phase`` is ``Pending`` if absent. ``started_at_ms`` is from year 1 to year 9999,
///     as in the API. A container of the pod that is not listed is waiting and has no ID.
///
///     A *status* is the facts with ``"ready": bool`` and ``"started": bool | null`` of each container, and with
///     ``"ready": bool`` and ``"initialized": bool`` of the pod. As an argument it may leave them out; the pod's own
///     ``ready`` and ``initialized`` are not read, because both follow from the containers. If all containers of the
///     pod are restarting, it has ``"all_containers_restarting": true``.
#[pymodule]
fn _rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(certificate::certificate_validity, module)?)?;
    module.add_function(wrap_pyfunction!(certificate::issue_certificate, module)?)?;
    module.add_function(wrap_pyfunction!(certificate::make_authority, module)?)?;
    module.add_function(wrap_pyfunction!(text::expand, module)?)?;
    module.add_function(wrap_pyfunction!(text::go_quote, module)?)?;
    module.add_function(wrap_pyfunction!(hello::read_hello, module)?)?;
    module.add_function(wrap_pyfunction!(once::attempt, module)?)?;
    module.add_function(wrap_pyfunction!(journal::read_journal, module)?)?;
    module.add_class::<backoff::Backoff>()?;
    module.add_class::<backoff::Requeue>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::EnteredExec>()?;
    module.add_class::<batch::EventRecord>()?;
    module.add_class::<batch::TurnRecord>()?;
    module.add_class::<batch::ExecAttempt>()?;
    module.add_class::<batch::Notice>()?;
    module.add_class::<batch::Update>()?;
    module.add_class::<simulation::ClusterModel>()?;
    module.add_class::<crashloop::CrashLoad>()?;
    module.add_class::<crashloop::CrashModel>()?;
    module.add_class::<decision::Decision>()?;
    // Its public name is `probelet.Prober`; inside, a prober is the one of the core.
    module.add("Engine", module.py().get_type::<engine::Engine>())?;
    module.add_class::<exec_end::ExecEnd>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<restart::RestartSpec>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<timing::TimerWheel>()?;
    module.add_class::<timing::TokenBucket>()
}

/// The version of the extension, which is the version of the package.
#[pyfunction]
const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
