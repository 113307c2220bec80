//! One run of a probe by itself, through the handlers the live engine uses.

use probelet_core::prober::Outcome;
use probelet_core::spec::ProbeSpec;
use serde_json::{Value, json};

use super::asker::Asker;
use super::probe::{Observation, observe};
use crate::attempt::timings::millis;

/// What a single run needs to know beside its probe.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The container's named ports.
    pub ports: &'a [(Box<str>, i64)],
    /// The first pod IP.
    pub pod_ip: &'a str,
    /// Who asks.
    pub asker: Asker<'a>,
}

/// Runs the probe once, on the calling thread, and says what it saw as JSON.
///
/// # Errors
/// No reactor is to be had.
pub fn run_once(probe: &ProbeSpec, around: Surroundings<'_>) -> std::io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let began = std::time::Instant::now();
    let handler = &probe.handler;
    let seen = runtime.block_on(observe(handler, around.ports, around.pod_ip, around.asker, probe.timeout_seconds));
    let duration = began.elapsed();
    Ok(serde_json::to_vec(&document(&seen, millis(duration))).expect("plain data"))
}

fn document(seen: &Observation, duration_ms: f64) -> Value {
    let (outcome, result, error) = match &seen.outcome {
        Outcome::Error { failure: true, error } => ("error", "failure", Some(error)),
        Outcome::Error { failure: false, error } => ("error", "unknown", Some(error)),
        Outcome::Failure { .. } => ("failure", "failure", None),
        Outcome::Success => ("success", "success", None),
        Outcome::Unknown => ("failure", "unknown", None),
        Outcome::Warning { .. } => ("warning", "warning", None),
    };
    let bytes = std::str::from_utf8(&seen.output).is_err().then_some(&seen.output);
    json!({
        "outcome": outcome,
        "result": result,
        "output": String::from_utf8_lossy(&seen.output),
        "output_bytes": bytes,
        "error": error,
        "cause": seen.cause.name(),
        "duration_ms": duration_ms,
        "phases_ms": seen.phases.to_json(),
    })
}
