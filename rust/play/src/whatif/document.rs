//! A recording and a play as JSON, for Python. Times are Unix microseconds.

use std::collections::BTreeMap;

use probelet_core::spec::ProbeType;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::change::Change;
use super::lives::{Kill, Lives};
use super::play::Played;
use super::seen::{Seen, cause_of};
use crate::cause::Cause;
use crate::json::{JsonError, Options, decode};
use crate::recording::{HandlerKind, PodLog, ProbeRecord, Published, Recording, Stretch};

/// A probe's numbers. The names are those of Python's model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Probe {
    initial_delay_seconds: i32,
    timeout_seconds: i32,
    period_seconds: i32,
    success_threshold: i32,
    failure_threshold: i32,
    initialization_failure_threshold: i32,
    #[serde(default)]
    options: Option<Options>,
}

/// A [`Change`] in JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeDocument {
    container: Box<str>,
    r#type: Box<str>,
    probe: Option<Probe>,
}

/// Decodes changes: a list of `{"container", "type", "probe"}`.
///
/// # Errors
/// The first place where the JSON is not such a list.
pub fn decode_changes(json: &[u8]) -> Result<Vec<Change>, JsonError> {
    let changes: Vec<ChangeDocument> = decode(json)?;
    let change = |ChangeDocument { container, r#type, probe }| {
        let found = ProbeType::ALL.into_iter().find(|probe_type| probe_type.name() == &*r#type);
        let probe_type = found.ok_or_else(|| JsonError::of(format!("type: no probe has the type {:?}", r#type)))?;
        Ok(Change { container, probe_type, probe: probe.map(|probe| probe.to_record()) })
    };
    changes.into_iter().map(change).collect()
}

impl Probe {
    /// What the probe asks does not matter to a play.
    fn to_record(&self) -> ProbeRecord {
        ProbeRecord {
            handler: HandlerKind::Exec,
            initial_delay_seconds: self.initial_delay_seconds,
            timeout_seconds: self.timeout_seconds,
            period_seconds: self.period_seconds,
            success_threshold: self.success_threshold,
            failure_threshold: self.failure_threshold,
            initialization_failure_threshold: self.initialization_failure_threshold,
            options: self.options.as_ref().map(Options::to_core),
        }
    }

    fn of(record: &ProbeRecord) -> Self {
        Self {
            initial_delay_seconds: record.initial_delay_seconds,
            timeout_seconds: record.timeout_seconds,
            period_seconds: record.period_seconds,
            success_threshold: record.success_threshold,
            failure_threshold: record.failure_threshold,
            initialization_failure_threshold: record.initialization_failure_threshold,
            options: record.options.as_ref().map(Options::of),
        }
    }
}

/// What a recording holds.
pub fn describe(recording: &Recording) -> Value {
    let stretches = recording.stretches.iter().map(|stretch| {
        let clock = Clock::of(stretch);
        json!({
            "probelet": stretch.start.probelet, "lost": stretch.start.lost,
            "from_us": clock.unix(stretch.start.at_us), "to_us": clock.unix(stretch.end_us),
            "pods": stretch.pods.iter().map(|log| pod(&clock, log)).collect::<Vec<_>>(),
        })
    });
    json!({
        "node": recording.node, "lost": recording.lost, "cuts": recording.cuts,
        "stretches": stretches.collect::<Vec<_>>(),
    })
}

/// A play of a pod of a stretch.
pub fn played(stretch: &Stretch, played: &Played) -> Value {
    let clock = Clock::of(stretch);
    json!({
        "results": results(&clock, &played.published), "kills": kills(&clock, &played.kills),
        "recorded": played.counts.recorded, "carried": played.counts.carried, "unknown": played.counts.unknown,
    })
}

fn pod(clock: &Clock, log: &PodLog) -> Value {
    let lives = Lives::of(log);
    let lived = lives.iter().map(|(id, life)| {
        json!({
            "container_id": id, "container": life.container,
            "ran_us": life.ran_us.map(|at| clock.unix(at.max(log.from_us))),
            "ended_us": life.ended_us.map(|at| clock.unix(at)), "exit_code": life.exit_code,
        })
    });
    let attempts: usize = log.attempts.values().map(Vec::len).sum();
    json!({
        "uid": log.record.uid, "namespace": log.record.namespace, "name": log.record.name,
        "from_us": clock.unix(log.from_us), "attempts": attempts, "containers": containers(log),
        "lives": lived.collect::<Vec<_>>(), "results": real_results(clock, log, &lives),
        "kills": kills(clock, &lives.kills(&log.results)),
    })
}

fn containers(log: &PodLog) -> Vec<Value> {
    let containers = log.record.containers.iter().map(|container| {
        let probes = ProbeType::ALL.into_iter().filter_map(|probe_type| {
            Some((probe_type.name(), Probe::of(container.probes[probe_type as usize].as_ref()?)))
        });
        let of_container = log.attempts.iter().filter(|((name, _), _)| *name == container.name);
        let attempts = of_container.map(|((_, probe_type), attempts)| (probe_type.name(), seen(&Seen::of(attempts))));
        json!({
            "name": container.name, "images": log.images.get(&container.name).map_or(&[][..], Vec::as_slice),
            "probes": probes.collect::<BTreeMap<_, _>>(),
            "seen": attempts.collect::<BTreeMap<_, _>>(),
        })
    });
    containers.collect()
}

fn seen(seen: &Seen) -> Value {
    json!({
        "attempts": seen.attempts, "failures": seen.failures, "errors": seen.errors, "starved": seen.starved,
        "total_us": seen.total_us, "slow_us": seen.slow_us, "late_us": seen.late_us,
    })
}

/// The results that were really published, with the cause of each failure.
fn real_results(clock: &Clock, log: &PodLog, lives: &Lives) -> Vec<Value> {
    let cause = |it: &Published| {
        let attempts = log.attempts.get(&(lives.get(&it.container_id)?.container.clone(), it.probe_type))?;
        cause_of(it, attempts).map(Cause::name)
    };
    let mut found = results(clock, &log.results);
    for (value, it) in found.iter_mut().zip(&log.results) {
        value["cause"] = json!(cause(it));
    }
    found
}

fn results(clock: &Clock, results: &[Published]) -> Vec<Value> {
    let result = |it: &Published| {
        json!({
            "at_us": clock.unix(it.at_us), "type": it.probe_type.name(), "container_id": it.container_id,
            "result": it.result.name(),
        })
    };
    results.iter().map(result).collect()
}

fn kills(clock: &Clock, kills: &[Kill]) -> Vec<Value> {
    let kill = |it: &Kill| {
        let at_us = clock.unix(it.at_us);
        json!({"at_us": at_us, "type": it.probe_type.name(), "container_id": it.container_id})
    };
    kills.iter().map(kill).collect()
}

/// A stretch's clock on the wall, as its start says.
pub(super) struct Clock {
    zero_us: i64,
}

impl Clock {
    /// The clock of a stretch.
    pub(super) const fn of(stretch: &Stretch) -> Self {
        Self { zero_us: stretch.start.wall_ns / 1_000 }
    }

    /// Unix microseconds.
    pub(super) fn unix(&self, at_us: u64) -> i64 {
        self.zero_us.saturating_add(i64::try_from(at_us).unwrap_or(i64::MAX))
    }
}
