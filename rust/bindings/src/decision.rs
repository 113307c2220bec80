//! `Decision`: what a `Backoff` answers about a start.

use probelet_core::backoff;
use pyo3::prelude::*;

/// What ``Backoff`` answers about the start of a container. Equal fields make equal decisions.
///
/// A field that does not belong to ``word`` is 0 or False.
#[pyclass(module = "probelet._rust", frozen, get_all, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Decision {
    /// ``start``: the container starts now. ``wait``: it may start at ``due_ns``. ``never``: it does not run
    /// again.
    word: &'static str,
    /// Of ``wait``: when the container may start, on the clock of the arguments.
    due_ns: u64,
    /// Of ``wait``: the stored delay, in nanoseconds.
    delay_ns: u64,
    /// Of ``start``: no delay stood before it.
    free: bool,
}

impl From<backoff::Decision> for Decision {
    fn from(decision: backoff::Decision) -> Self {
        let (word, due_ns, delay_ns, free) = match decision {
            backoff::Decision::Never => ("never", 0, 0, false),
            backoff::Decision::Start { free } => ("start", 0, 0, free),
            backoff::Decision::Wait { due, delay } => ("wait", due.as_nanos(), delay.as_nanos() as u64, false),
        };
        Self { word, due_ns, delay_ns, free }
    }
}
