//! A single attempt of a probe, through the handlers that the live engine uses.

use probelet_core::prober::Outcome;
use probelet_core::spec::ProbeSpec;
use serde_json::json;

use super::asker::Asker;
use super::buffers::Buffers;
use super::probe_once::probe_once;
use crate::attempt::report::Report;
use crate::attempt::timings::millis;

/// What a single attempt needs beside its probe.
#[derive(Clone, Copy, Debug)]
pub struct AttemptContext<'a> {
    /// The container's named ports.
    pub ports: &'a [(Box<str>, i64)],
    /// The first pod IP.
    pub pod_ip: &'a str,
    /// The kubelet that asks.
    pub asker: Asker<'a>,
}

/// Probes once on the calling thread; returns the outcome as JSON.
///
/// # Errors
/// If the system cannot provide a reactor.
pub fn probe_once_as_json(probe: &ProbeSpec, context: AttemptContext<'_>) -> std::io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let began = std::time::Instant::now();
    let AttemptContext { ports, pod_ip, asker } = context;
    let mut buffers = Buffers::default();
    let attempt = probe_once(&probe.handler, ports, pod_ip, asker, probe.timeout_seconds, &mut buffers);
    let Report { outcome, cause, timings } = runtime.block_on(attempt);
    let duration = began.elapsed();
    let (word, result, error) = match &outcome {
        Outcome::Error { failure: true, error, .. } => ("error", "failure", Some(error)),
        Outcome::Error { failure: false, error, .. } => ("error", "unknown", Some(error)),
        Outcome::Failure { .. } => ("failure", "failure", None),
        Outcome::Success => ("success", "success", None),
        Outcome::Unknown => ("failure", "unknown", None),
        Outcome::Warning { .. } => ("warning", "warning", None),
    };
    let output: &[u8] = match &outcome {
        Outcome::Success => &buffers.body,
        Outcome::Failure { output } | Outcome::Warning { output } => output,
        Outcome::Error { .. } | Outcome::Unknown => &[],
    };
    let bytes = std::str::from_utf8(output).is_err().then_some(output);
    let document = json!({
        "outcome": word,
        "result": result,
        "output": String::from_utf8_lossy(output),
        "output_bytes": bytes,
        "error": error,
        "cause": cause.name(),
        "duration_ms": millis(duration),
        "phases_ms": timings.to_json(),
    });
    Ok(serde_json::to_vec(&document).expect("plain data"))
}
