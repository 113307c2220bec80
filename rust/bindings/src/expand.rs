//! `expand`: `$(VAR)` in a text of a manifest.

use probelet_core::expand as core;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
pub(crate) fn expand(text: &str, variables: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut failed = Ok(());
    let value_of = |name: &str| variables.get_item(name)?.map(|value| value.extract()).transpose();
    let expanded = core::expand(text, |name| {
        value_of(name).unwrap_or_else(|error: PyErr| {
            failed = Err(error);
            None
        })
    });
    failed.map(|()| expanded)
}
