//! `Decision`: what a `Backoff` answers about a start.

use probelet_core::backoff;
use pyo3::prelude::*;

#[pyclass(module = "probelet._rust", frozen, get_all, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Decision {
    word: &'static str,
    due_ns: u64,
    delay_ns: u64,
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
