//! What a simulation keeps of a worker: how its attempts are scripted, the one that is under way, and how they ended.

use std::time::Duration;

use probelet_core::prober::{AttemptTarget, Outcome};
use probelet_core::spec::Handler;

use super::handlers::Handlers;
use super::record::Record;
use crate::cause::Cause;
use crate::counts::Counts;
use crate::history::is_turn;

/// What is scripted for one worker. It is made once, so that an attempt looks up nothing by name.
#[derive(Debug)]
pub(super) struct WorkerScript {
    /// Its attempt on its way; the core has at most one.
    pub(super) flight: Option<Flight>,
    pub(super) counts: Counts,
    /// How long an answer takes unless a script says so.
    pub(super) delay: Duration,
    pub(super) timeout: Duration,
    /// The number of its script, and as of how many changes of scripts, once one was asked for.
    pub(super) script: Option<(u32, u32)>,
    /// How long each further attempt takes, and as of how many changes of scripts, once all of them succeed.
    pub(super) steady: Option<(Duration, u32)>,
    /// Whether it is the runtime that its probe asks.
    pub(super) is_exec: bool,
    /// The number of its probe, if its answers come from a container's behaviour.
    pub(super) probe: Option<u32>,
    /// Its bad attempts in a row; None before its first attempt.
    pub(super) bad_in_a_row: Option<usize>,
}

/// An attempt on its way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) run: u32,
    pub(super) outcome: Outcome,
    /// Written down when the attempt ends, as the recordings do.
    pub(super) record: Option<Box<Record>>,
    /// Whether it ends as the attempt before it did.
    pub(super) repeats_itself: bool,
    /// Why it ends so, and how late the prober reads it, if a container's behaviour answers.
    pub(super) answered: Option<(Cause, Duration)>,
}

impl WorkerScript {
    /// For a worker in the pod that was defined as number `pod_index`.
    pub(super) fn new(target: &AttemptTarget<'_>, pod_index: usize) -> Self {
        Self {
            flight: None,
            counts: Counts::default(),
            delay: default_delay(target.probe_type as usize, target.container_index, pod_index),
            timeout: Duration::from_secs(target.probe().timeout_seconds.max(0).unsigned_abs().into()),
            script: None,
            steady: None,
            is_exec: matches!(target.probe().handler, Handler::Exec { .. }),
            probe: None,
            bad_in_a_row: None,
        }
    }

    /// Counts an attempt; returns whether it is a turn. The first one is, however it ended, as for a live engine.
    pub(super) fn take_turn(&mut self, is_bad: bool) -> bool {
        let before = self.bad_in_a_row;
        self.bad_in_a_row = Some(if is_bad { before.unwrap_or(0).saturating_add(1) } else { 0 });
        before.is_none_or(|bad_before| is_turn(bad_before, !is_bad))
    }
}

/// The command of an exec probe; other probes have none.
pub(super) fn command<'a>(target: &AttemptTarget<'a>) -> &'a [Box<str>] {
    match &target.probe().handler {
        Handler::Exec { command } => command,
        _ => &[],
    }
}

/// The output of an attempt that nobody answers in time.
pub(super) fn late_output(target: &AttemptTarget<'_>, handlers: &dyn Handlers) -> String {
    let probe = target.probe();
    if let Handler::Exec { command } = &probe.handler {
        return late_command(command, probe.timeout_seconds.max(0).unsigned_abs().into());
    }
    handlers.late_text(target).unwrap_or_else(|| "timed out".to_owned())
}

/// What the CRI client says of a command that has run into its timeout (kubelet pkg/probe/exec, 1.36).
pub(super) fn late_command(command: &[Box<str>], seconds: u64) -> String {
    format!("command timed out: {:?} timed out after {seconds}s", command.join(" "))
}

/// How long an answer takes unless a script says so: different for every worker, so that probes begun together end
/// apart, and in the order in which the recordings have them.
const fn default_delay(type_index: usize, container_index: usize, pod_index: usize) -> Duration {
    Duration::from_millis(2 + type_index as u64 + 3 * container_index as u64 + 31 * pod_index as u64)
}
