//! Reading a journal, for tools.

use std::path::PathBuf;

use probelet_engine::journal::read_file;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::InputError;

#[pyfunction]
pub(crate) fn read_journal(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let reading = py.detach(|| read_file(&path)).map_err(|error| InputError::Journal(error.0))?;
    Ok(PyBytes::new(py, &reading.to_json()))
}
