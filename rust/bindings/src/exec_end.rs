//! `ExecEnd`: how Python hands an exec attempt back.

use probelet_engine::live;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;

/// It keeps Python's bytes and does not copy them, because its constructor runs once for each attempt.
#[pyclass(module = "probelet._rust", frozen)]
pub(crate) struct ExecEnd {
    run: u64,
    kind: Kind,
    output: Py<PyBytes>,
}

#[derive(Clone, Copy)]
enum Kind {
    Error,
    Exit(i32),
    Starved,
    Timeout,
}

impl ExecEnd {
    /// The attempt's number and its end, as the engine takes them.
    pub(crate) fn to_engine(&self, py: Python<'_>) -> (u64, live::ExecEnd) {
        let output = self.output.as_bytes(py);
        let end = match self.kind {
            Kind::Error => live::ExecEnd::Error(String::from_utf8_lossy(output).into()),
            Kind::Exit(code) => live::ExecEnd::Exit { code, output: output.into() },
            Kind::Starved => live::ExecEnd::Starved(output.into()),
            Kind::Timeout => live::ExecEnd::Timeout(output.into()),
        };
        (self.run, end)
    }
}

#[pymethods]
impl ExecEnd {
    #[staticmethod]
    const fn exit(
        #[pyo3(from_py_with = argument::run)] run: u64,
        #[pyo3(from_py_with = argument::code)] code: i32,
        output: Py<PyBytes>,
    ) -> Self {
        Self { run, kind: Kind::Exit(code), output }
    }

    #[staticmethod]
    const fn timeout(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Timeout, output: text }
    }

    #[staticmethod]
    const fn starved(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Starved, output: text }
    }

    #[staticmethod]
    const fn error(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Error, output: text }
    }

    #[getter]
    const fn run(&self) -> u64 {
        self.run
    }

    #[getter]
    const fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Error => "error",
            Kind::Exit(_) => "exit",
            Kind::Starved => "starved",
            Kind::Timeout => "timeout",
        }
    }

    #[getter]
    const fn code(&self) -> Option<i32> {
        match self.kind {
            Kind::Exit(code) => Some(code),
            Kind::Error | Kind::Starved | Kind::Timeout => None,
        }
    }

    #[getter]
    const fn output(&self) -> &Py<PyBytes> {
        &self.output
    }
}
