//! The pages `/metrics/probes` and the engine's part of `/metrics`, in the Prometheus text format.

use std::fmt::Write;
use std::time::Duration;

use probelet_core::prober::ExtraRuns;
use probelet_core::spec::ProbeType;
use probelet_play::cause::Cause;

use super::engine::Engine;
use super::state::State;
use crate::journal::Tally;
use crate::stats::engine::{BOUNDS, EngineStats, Histogram, RESULTS, RecorderTally};
use crate::stats::worker::{BUCKETS, WorkerStats};

impl Engine {
    /// The kubelet's probe metrics with the kubelet's label sets (prober_manager.go, 1.36).
    ///
    /// Copies the rows in portions, so that 100,000 workers do not hold up the engine while it writes the page.
    pub fn metrics_probes(&self) -> String {
        let mut totals = String::from(
            "# HELP prober_probe_total Cumulative number of a liveness, readiness or startup probe for a container by \
             result.\n# TYPE prober_probe_total counter\n",
        );
        let mut durations = String::from(
            "# HELP prober_probe_duration_seconds Duration in seconds for a probe response.\n\
             # TYPE prober_probe_duration_seconds histogram\n",
        );
        let mut next = Some(0);
        while let Some(from) = next {
            let (rows, rest) = self.shared.lock().worker_stats.portion(from, PORTION);
            for row in &rows {
                write_total(&mut totals, row);
                write_duration(&mut durations, row);
            }
            next = rest;
        }
        totals + &durations
    }

    /// probelet's own series, whose number does not grow with the workers. Copies them under the lock and writes them
    /// after it, so that a page holds up the engine for a microsecond.
    pub fn metrics(&self) -> String {
        let (gauges, stats, extra) = {
            let state = self.shared.lock();
            (Gauges::of(&state), state.engine_stats.clone(), state.manager.prober().extra_runs())
        };
        let mut page = String::new();
        gauges.write(&mut page, stats.in_flight);
        write_panics(&mut page, stats.panics);
        write_overdue(&mut page, stats.overdue);
        if let Some(tally) = &stats.journal {
            write_journal(&mut page, tally);
        }
        if let Some(tally) = &stats.recorder {
            write_recorder(&mut page, tally);
        }
        write_extra(&mut page, extra);
        write_runs(&mut page, &stats);
        let causes = Cause::ALL.iter().zip(stats.causes);
        page.push_str("# HELP probelet_probe_attempts_total Attempts by the cause of their outcome.\n");
        page.push_str("# TYPE probelet_probe_attempts_total counter\n");
        for (cause, count) in causes {
            let _ = writeln!(page, "probelet_probe_attempts_total{{cause=\"{}\"}} {count}", cause.name());
        }
        let lateness = "probelet_probe_lateness_seconds";
        write_head(&mut page, lateness, "How late attempts began against their schedule.");
        write_histogram(&mut page, lateness, "", &stats.lateness);
        let took = "probelet_probe_attempt_duration_seconds";
        write_took(&mut page, took, "How long attempts took, failures included.", &stats);
        page
    }

    /// The series of an engine of enhanced liveness, whose probes are all of liveness, beside those of another engine.
    pub fn metrics_enhanced(&self) -> String {
        let stats = self.shared.lock().engine_stats.clone();
        let name = "probelet_elp_probe_total";
        let mut page = format!(
            "# HELP {name} Runs of enhanced liveness by result; an error counts for nothing.\n# TYPE {name} counter\n"
        );
        for (result, count) in RESULTS.iter().zip(stats.runs[ProbeType::Liveness as usize]) {
            let _ = writeln!(page, "{name}{{type=\"liveness\",result=\"{result}\"}} {count}");
        }
        let lag = "probelet_elp_probe_lag_seconds";
        write_head(&mut page, lag, "How late attempts of enhanced liveness began against their schedule.");
        write_histogram(&mut page, lag, "", &stats.lateness);
        let text = "How long attempts of enhanced liveness took, failures included.";
        write_took(&mut page, "probelet_elp_probe_duration_seconds", text, &stats);
        page
    }
}

/// Counts that only the state has.
struct Gauges {
    workers: usize,
    timers: usize,
    execs: u64,
}

impl Gauges {
    fn of(state: &State) -> Self {
        let prober = state.manager.prober();
        Self {
            workers: prober.worker_count(),
            timers: prober.timer_count(),
            execs: state.execs.len() as u64 + state.direct.in_flight,
        }
    }

    fn write(&self, page: &mut String, in_flight: u64) {
        let gauges = [
            ("probelet_workers", "Workers, one per probe of a container.", self.workers as u64),
            ("probelet_timers", "Armed timers.", self.timers as u64),
            ("probelet_probe_attempts_in_flight", "Attempts that have begun and not ended.", in_flight),
            ("probelet_exec_attempts_in_flight", "Exec attempts that have begun and not ended.", self.execs),
        ];
        for (name, help, value) in gauges {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
    }
}

fn write_runs(page: &mut String, stats: &EngineStats) {
    let name = "probelet_probe_runs_total";
    let help = "Runs by probe type and result; an error counts for nothing.";
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter");
    for (probe_type, counts) in ProbeType::ALL.iter().zip(stats.runs) {
        for (result, count) in RESULTS.iter().zip(counts) {
            let _ = writeln!(page, "{name}{{probe_type=\"{}\",result=\"{result}\"}} {count}", probe_type.title());
        }
    }
}

fn write_panics(page: &mut String, panics: u64) {
    let name = "probelet_engine_panics_total";
    let help = "Turns of the engine's thread that ended in a panic.";
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {panics}");
}

fn write_overdue(page: &mut String, overdue: Duration) {
    let name = "probelet_engine_overdue_seconds_total";
    let help = "How long the engine's own loop was late while attempts were in flight.";
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}", overdue.as_secs_f64());
}

fn write_journal(page: &mut String, tally: &Tally) {
    let series = [
        ("probelet_journal_records_total", "counter", "Changes written to the journal.", tally.records),
        ("probelet_journal_snapshots_total", "counter", "Times the journal was written anew.", tally.snapshots),
        ("probelet_journal_errors_total", "counter", "Attempts to write the journal that failed.", tally.errors),
        ("probelet_journal_refused_total", "counter", "Changes too long for the journal.", tally.refused),
        ("probelet_journal_bytes", "gauge", "Length of the journal's file.", tally.bytes),
    ];
    for (name, kind, help, value) in series {
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    }
}

fn write_recorder(page: &mut String, tally: &RecorderTally) {
    let name = "probelet_flight_recorder";
    let series = [
        ("attempts_total", "counter", "Attempts that the flight recorder wrote.", tally.ring.attempts),
        (
            "lost_total",
            "counter",
            "Entries that the flight recorder lost, because the disk hung or failed.",
            tally.lost,
        ),
        ("segments_total", "counter", "Segments that the flight recorder began.", tally.ring.segments),
        ("errors_total", "counter", "Attempts to write the recording that failed.", tally.ring.errors),
        ("written_bytes_total", "counter", "Bytes that the flight recorder wrote.", tally.ring.written),
        ("bytes", "gauge", "Length of all segments of the recording.", tally.ring.bytes),
    ];
    for (part, kind, help, value) in series {
        let _ = writeln!(page, "# HELP {name}_{part} {help}\n# TYPE {name}_{part} {kind}\n{name}_{part} {value}");
    }
}

fn write_head(page: &mut String, name: &str, help: &str) {
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} histogram");
}

/// Only on a node where a probe's options ask for runs between the ordinary ones.
fn write_extra(page: &mut String, extra: ExtraRuns) {
    if extra == ExtraRuns::default() {
        return;
    }
    let name = "probelet_extra_runs_total";
    let help = "Runs between the ordinary ones that options of probes ask for, by what the budget did to them.";
    let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} counter\n");
    for (budget, count) in [("in_time", extra.in_time), ("late", extra.late), ("left_out", extra.left_out)] {
        let _ = writeln!(page, "{name}{{budget=\"{budget}\"}} {count}");
    }
}

fn write_took(page: &mut String, name: &str, help: &str, stats: &EngineStats) {
    write_head(page, name, help);
    write_histogram(page, name, "result=\"successful\",", &stats.succeeded);
    write_histogram(page, name, "result=\"failed\",", &stats.failed);
}

fn write_histogram(page: &mut String, name: &str, labels: &str, histogram: &Histogram) {
    let mut sum = 0;
    for (bound, count) in BOUNDS.iter().zip(histogram.buckets) {
        sum += count;
        let _ = writeln!(page, "{name}_bucket{{{labels}le=\"{}\"}} {sum}", seconds(*bound));
    }
    sum += histogram.buckets[BOUNDS.len()];
    let _ = writeln!(page, "{name}_bucket{{{labels}le=\"+Inf\"}} {sum}");
    let braced = match labels.strip_suffix(',') {
        Some(labels) => format!("{{{labels}}}"),
        None => String::new(),
    };
    let _ = writeln!(page, "{name}_sum{braced} {}\n{name}_count{braced} {sum}", histogram.sum.as_secs_f64());
}

fn write_total(page: &mut String, row: &WorkerStats) {
    for (result, count) in [("successful", row.counts.successful), ("failed", row.counts.failed)] {
        if count > 0 {
            let _ = writeln!(
                page,
                "prober_probe_total{{container=\"{}\",namespace=\"{}\",pod=\"{}\",pod_uid=\"{}\",probe_type=\"{}\",result=\"{result}\"}} {count}",
                row.container(),
                row.pod.namespace,
                row.pod.name,
                row.pod.uid,
                row.probe_type.title(),
            );
        }
    }
}

fn write_duration(page: &mut String, row: &WorkerStats) {
    if row.counts.successful == 0 {
        return;
    }
    let name = "prober_probe_duration_seconds";
    let labels = format!(
        "container=\"{}\",namespace=\"{}\",pod=\"{}\",probe_type=\"{}\"",
        row.container(),
        row.pod.namespace,
        row.pod.name,
        row.probe_type.title()
    );
    let mut sum = 0;
    for (bound, count) in BUCKETS.iter().zip(row.buckets) {
        sum += u64::from(count);
        let _ = writeln!(page, "{name}_bucket{{{labels},le=\"{}\"}} {sum}", seconds(*bound));
    }
    let (runs, length) = (row.counts.successful, row.duration().as_secs_f64());
    let _ = writeln!(page, "{name}_bucket{{{labels},le=\"+Inf\"}} {runs}");
    let _ = writeln!(page, "{name}_sum{{{labels}}} {length}\n{name}_count{{{labels}}} {runs}");
}

/// `0.005`, `1`, `2.5`: as Go prints a bucket's bound.
fn seconds(length: Duration) -> f64 {
    length.as_secs_f64()
}

/// Rows copied under one hold of the lock: some tens of microseconds.
const PORTION: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use probelet_core::prober::AttemptTarget;
    use probelet_core::results::ProbeResult;
    use probelet_core::semantics::Semantics;
    use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec, ProbeType};

    use super::*;
    use crate::stats::worker::StatsTable;

    #[test]
    fn a_run_longer_than_every_bucket_counts_in_the_last_one() {
        let probe = Some(Box::new(ProbeSpec::default()));
        let container = ContainerSpec { name: "app".into(), probes: [None, None, probe], ..ContainerSpec::default() };
        let pod =
            Arc::new(PodSpec { name: "web".into(), containers: vec![container], regular: 1, ..PodSpec::default() });
        let target = AttemptTarget {
            pod: &pod,
            container_index: 0,
            probe_type: ProbeType::Liveness,
            pod_ip: None,
            container_id: "",
            rules: Semantics::V1_36.handler_rules(),
        };
        let (mut table, mut page) = (StatsTable::default(), String::new());
        table.open(0, &target);
        for seconds in [0.004, 9.0, 11.0] {
            table.count(0, Some(ProbeResult::Success), Duration::from_secs_f64(seconds));
        }
        write_duration(&mut page, table.row(0).unwrap());
        let labels = "container=\"app\",namespace=\"\",pod=\"web\",probe_type=\"Liveness\"";
        let expected = [
            format!("bucket{{{labels},le=\"0.005\"}} 1"),
            format!("bucket{{{labels},le=\"10\"}} 2"),
            format!("bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("sum{{{labels}}} 20.004"),
            format!("count{{{labels}}} 3"),
        ];
        let lines: Vec<&str> = page.lines().collect();
        for line in expected {
            assert!(lines.contains(&&*format!("prober_probe_duration_seconds_{line}")), "{line}\n{page}");
        }
    }
}
