//! `Target`: something to measure probes against.

use std::time::Duration;

use probelet_engine::target::{self, Protocol};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::InputError;

#[pyclass(module = "probelet._rust")]
pub(crate) struct Target(target::Target);

#[pymethods]
impl Target {
    #[new]
    #[pyo3(signature = (protocol, *, port = 0, period_ns = 1_000_000_000))]
    fn new(protocol: &str, port: u16, period_ns: u64) -> PyResult<Self> {
        let protocol = Protocol::of_name(protocol)
            .ok_or_else(|| InputError::word("protocol", protocol, &["grpc", "http", "https", "tcp"]))?;
        let target = target::Target::start(protocol, port, Duration::from_nanos(period_ns));
        Ok(Self(target.map_err(|error| PyOSError::new_err(error.to_string()))?))
    }

    #[getter]
    const fn port(&self) -> u16 {
        self.0.port()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, py.detach(|| self.0.statistics()).as_bytes())
    }

    fn forget(&self, py: Python<'_>) {
        py.detach(|| self.0.forget());
    }

    fn close(&mut self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}
