//! `attempt`: one run of a probe over a socket, for `probelet probe`, hooks and tests.

use probelet_engine::handler::Asker;
use probelet_engine::handler::once::{AttemptContext, probe_once_as_json};
use probelet_play::json::decode_probe;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument;
use crate::error::{InputError, release};

/// Makes one attempt of a probe over a socket, on this thread, with the GIL released.
///
/// ``spec`` is a v1.Probe as JSON, taken as it is. ``ports`` are the names and numbers of the container's ports.
/// Returns ``{"outcome": "success" | "warning" | "failure" | "error", "result": "success" | "warning" | "failure" |
/// "unknown", "output", "output_bytes": the output as a list of numbers where it is not UTF-8, "error": str | null,
/// "cause", "duration_ms", "phases_ms"}``.
///
/// Raises:
///     InvalidInputError: ``spec`` is no v1.Probe, or ``kubelet_version`` is not known.
///     OSError: no file descriptor is left.
#[pyfunction]
#[pyo3(signature = (spec, pod_ip, ports, user_agent, *, kubelet_version = "1.36"))]
pub(crate) fn attempt<'py>(
    py: Python<'py>,
    spec: &[u8],
    pod_ip: &str,
    #[pyo3(from_py_with = argument::ports)] ports: Vec<(String, i64)>,
    user_agent: &str,
    kubelet_version: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let probe = decode_probe(spec).map_err(InputError::from)?;
    let ports: Vec<(Box<str>, i64)> = ports.into_iter().map(|(name, port)| (name.into(), port)).collect();
    let asker = Asker { user_agent, rules: release(kubelet_version)?.handler_rules(), pod_uid: None };
    let seen = py.detach(|| probe_once_as_json(&probe, AttemptContext { ports: &ports, pod_ip, asker }));
    Ok(PyBytes::new(py, &seen.map_err(|error| PyOSError::new_err(error.to_string()))?))
}
