//! Reading a journal, for tools.

use std::path::PathBuf;

use probelet_engine::journal::read_file;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::InputError;

/// Reads a journal, for tools: ``{"workers": [{"pod_uid", "container", "type", "container_id", "result",
/// "last_result", "result_run", "on_hold", "has_initialized", "in_doubt", "attempts"}], "backoff": [{"key",
/// "delay_ns", "last_start_ns", "step"}], "cut": bool}``; ``attempts`` is how many attempts of the worker it has, and
/// ``last_start_ns`` is on the wall clock. A file that is not there is an empty journal.
///
/// Raises:
///     JournalError: the file is not a journal, or it is damaged.
#[pyfunction]
pub(crate) fn read_journal(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let reading = py.detach(|| read_file(&path)).map_err(|error| InputError::Journal(error.0))?;
    Ok(PyBytes::new(py, &reading.to_json()))
}
