//! The workers' states, for the status document.

use std::time::Duration;

use probelet_core::options;
use probelet_core::prober::WorkerState;
use probelet_core::spec::Handler;
use probelet_core::time::WallOffset;
use probelet_play::history::{History, PastAttempt};
use serde_json::{Value, json};

use super::attempts::{Network, UNKNOWN};
use super::engine::Engine;
use crate::attempt::timings::millis;
use crate::stats::LastAttempt;
use crate::stats::worker::{SlowestAnswer, WorkerStats};

impl Engine {
    /// The workers of one pod or of all, as a JSON list; each with a character for each of its last attempts, and with
    /// `attempts` of them and its last failures, if that is not 0.
    ///
    /// Reads the workers in portions, so that a status of 100,000 workers does not make their probes late, and leaves
    /// out a worker that ends meanwhile.
    pub fn probe_states(&self, uid: Option<&str>, attempts: usize) -> Vec<u8> {
        let wall = self.shared.clock.wall();
        let ids = self.shared.lock().manager.prober().worker_ids(uid);
        let mut list: Vec<Value> = Vec::with_capacity(ids.len());
        for portion in ids.chunks(PORTION) {
            let state = self.shared.lock();
            let workers = portion.iter().filter_map(|id| state.manager.prober().worker_state(*id));
            list.extend(workers.map(|worker| {
                let history = state.worker_stats.history(worker.id);
                let (row, last) = (state.worker_stats.row(worker.id), state.worker_stats.last(worker.id));
                let mut document = document(&worker, row, last.as_ref(), wall);
                document["beats"] = history.map(History::beats).unwrap_or_default().into();
                if worker.target.probe().options.is_some() {
                    document["options"] = options(&worker, state.plans.network(&worker.target.pod.uid));
                }
                if attempts > 0 {
                    document["history"] = history.map_or(Value::Null, |history| history_document(history, attempts));
                }
                document
            }));
        }
        serde_json::to_vec(&list).expect("plain data")
    }
}

impl Engine {
    /// The slowest answers of at most `most` workers that made a whole history of runs since theirs was last told.
    ///
    /// Looks at each worker once, in portions, so that the probes of 100,000 workers do not wait for it.
    pub fn slowest_answers(&self, most: usize) -> Vec<SlowestAnswer> {
        let (mut found, mut left) = (Vec::new(), self.shared.lock().worker_stats.places());
        while left > 0 && found.len() < most {
            let count = left.min(PORTION);
            self.shared.lock().worker_stats.slowest_answers(count, most, &mut found);
            left -= count;
        }
        found
    }
}

fn document(
    worker: &WorkerState<'_>,
    row: Option<&WorkerStats>,
    last: Option<&LastAttempt>,
    wall: WallOffset,
) -> Value {
    let target = &worker.target;
    let (failures, errors) = row.map_or((0, 0), |row| (row.counts.failed, row.counts.errors));
    json!({
        "pod_uid": &*target.pod.uid,
        "container": &*target.container().name,
        "type": target.probe_type.name(),
        "handler": handler_name(&target.probe().handler),
        "container_id": target.container_id,
        "result": worker.result.map(|result| result.name()),
        "result_run": worker.result_run,
        "failure_threshold": worker.failure_threshold,
        "success_threshold": target.probe().success_threshold,
        "on_hold": worker.on_hold,
        "runs": row.map_or(0, |row| row.counts.successful) + failures + errors,
        "failures": failures,
        "errors": errors,
        "next_at_ms": wall.wall_ms(worker.next_tick),
        "last": last.map(LastAttempt::to_json),
    })
}

/// The opt-ins of a probe with what was counted for them.
fn options(worker: &WorkerState<'_>, network: Option<&Network>) -> Value {
    let options = worker.target.probe().options.as_deref().copied().unwrap_or_default();
    let failures = worker.window.map(|(window, failed)| json!({"of": window.of, "at": window.at, "failed": failed}));
    let errors = (options.failure_after_errors > 0)
        .then(|| json!({"failure_after": options.failure_after_errors, "in_a_row": worker.errors_in_a_row}));
    let millis = |pace: Option<Duration>| pace.map(|pace| pace.as_millis() as u64);
    json!({
        "failures": failures, "errors": errors, "period_ms": millis(options.period),
        "slower_than_ms": millis(options.slow), "until_ready_ms": millis(options.until_ready),
        "when_failing_ms": millis(options.when_failing),
        "network": network_document(options.network, network),
    })
}

/// From where the attempts of a probe with `network` are made, and why not from inside the pod.
fn network_document(asked: options::Network, found: Option<&Network>) -> Value {
    let (from, why) = match (asked, found) {
        (options::Network::Node, _) => return Value::Null,
        (_, Some(Network::Entered(_))) => ("pod", None),
        (_, Some(Network::Shared)) => ("node", Some("the pod is on the node's network")),
        (asked, found) => {
            let why = match found {
                Some(Network::Closed(why)) => why,
                _ => UNKNOWN,
            };
            (if asked == options::Network::Pod { "none" } else { "node" }, Some(why))
        }
    };
    json!({"made_from": from, "why": why})
}

fn history_document(history: &History, attempts: usize) -> Value {
    let attempts: Vec<Value> = history.attempts(attempts).iter().map(attempt_document).collect();
    let failures: Vec<Value> = history
        .failures()
        .iter()
        .map(|failure| {
            let mut document = attempt_document(&failure.attempt);
            document["message"] = (*failure.text).into();
            document
        })
        .collect();
    json!({"attempts": attempts, "failures": failures})
}

fn attempt_document(attempt: &PastAttempt) -> Value {
    json!({
        "at_ms": attempt.at_ms, "outcome": attempt.outcome.name(), "cause": attempt.cause.name(),
        "duration_ms": millis(attempt.duration), "lateness_ms": millis(attempt.lateness),
    })
}

/// The name of the handler's field in a v1.Probe.
const fn handler_name(handler: &Handler) -> &'static str {
    match handler {
        Handler::Exec { .. } => "exec",
        Handler::Grpc { .. } => "grpc",
        Handler::HttpGet(_) => "httpGet",
        Handler::None => "",
        Handler::TcpSocket { .. } => "tcpSocket",
    }
}

/// Workers described under one hold of the lock: about half a millisecond.
const PORTION: usize = 64;
