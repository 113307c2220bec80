//! `ExecEnd`: how Python hands an exec attempt back.

use probelet_engine::live;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;

// It keeps Python's bytes and does not copy them, because its constructor runs once for each attempt.
/// How an exec attempt ended, for ``Engine.finish_execs``. One of the static methods makes it.
#[pyclass(module = "probelet", frozen)]
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
    /// The end that the helper has given to a command of Python's.
    pub(crate) fn of_engine(py: Python<'_>, run: u64, end: &live::ExecEnd) -> Self {
        let (kind, output) = match end {
            live::ExecEnd::Error(text) => (Kind::Error, text.as_bytes()),
            live::ExecEnd::Exit { code, output } => (Kind::Exit(*code), &**output),
            live::ExecEnd::Starved(text) => (Kind::Starved, &**text),
            live::ExecEnd::Timeout(text) => (Kind::Timeout, &**text),
        };
        Self { run, kind, output: PyBytes::new(py, output).unbind() }
    }

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
    /// The command ended with this exit code: the probe succeeds with 0 and fails with any other code.
    #[staticmethod]
    const fn exit(
        #[pyo3(from_py_with = argument::run)] run: u64,
        #[pyo3(from_py_with = argument::code)] code: i32,
        output: Py<PyBytes>,
    ) -> Self {
        Self { run, kind: Kind::Exit(code), output }
    }

    /// The command took too long: the probe fails with ``text``.
    #[staticmethod]
    const fn timeout(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Timeout, output: text }
    }

    /// The caller's own timeout passed while the caller itself was late: a failure with the cause ``starved``.
    #[staticmethod]
    const fn starved(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Starved, output: text }
    }

    /// The command could not run, or the runtime did not answer: a prober error, and the attempt gives no result.
    #[staticmethod]
    const fn error(#[pyo3(from_py_with = argument::run)] run: u64, text: Py<PyBytes>) -> Self {
        Self { run, kind: Kind::Error, output: text }
    }

    /// The attempt's number, ``ExecRun.run``.
    #[getter]
    const fn run(&self) -> u64 {
        self.run
    }

    /// The static method that made it: ``exit``, ``timeout``, ``starved`` or ``error``.
    #[getter]
    const fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Error => "error",
            Kind::Exit(_) => "exit",
            Kind::Starved => "starved",
            Kind::Timeout => "timeout",
        }
    }

    /// The exit code; None unless the command exited.
    #[getter]
    const fn code(&self) -> Option<i32> {
        match self.kind {
            Kind::Exit(code) => Some(code),
            Kind::Error | Kind::Starved | Kind::Timeout => None,
        }
    }

    /// What the command wrote, or the text of another end.
    #[getter]
    const fn output(&self) -> &Py<PyBytes> {
        &self.output
    }
}
