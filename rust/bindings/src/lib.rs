//! The Python module `probelet._rust`. It checks and converts arguments and calls the core and the engine; it decides
//! nothing itself. Its manual is the stub.

mod argument;
mod backoff;
mod batch;
mod crashloop;
mod decision;
mod engine;
mod error;
mod exec_end;
mod expand;
mod golang;
mod journal;
mod once;
mod restart;
mod simulation;
mod timing;

use pyo3::prelude::*;

#[pymodule]
fn _rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(expand::expand, module)?)?;
    module.add_function(wrap_pyfunction!(golang::go_quote, module)?)?;
    module.add_function(wrap_pyfunction!(once::attempt, module)?)?;
    module.add_function(wrap_pyfunction!(journal::read_journal, module)?)?;
    module.add_class::<backoff::Backoff>()?;
    module.add_class::<backoff::Requeue>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::EventRecord>()?;
    module.add_class::<batch::ExecAttempt>()?;
    module.add_class::<batch::Notice>()?;
    module.add_class::<batch::Update>()?;
    module.add_class::<crashloop::CrashLoad>()?;
    module.add_class::<crashloop::CrashModel>()?;
    module.add_class::<decision::Decision>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<exec_end::ExecEnd>()?;
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
