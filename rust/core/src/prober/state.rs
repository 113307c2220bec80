//! The prober's whole state and its getters.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::budget::{ExtraBudget, ExtraRuns};
use super::model::memory::Memories;
use super::model::phasing::Phasing;
use super::model::pods::Pods;
use super::model::timer::Timer;
use super::model::worker::Worker;
use super::output::{Output, WorkerId};
use crate::results::{ProbeResult, Results};
use crate::rng::Rng;
use crate::semantics::Semantics;
use crate::slab::Slab;
use crate::spec::ProbeType;
use crate::time::{Instant, WallOffset};
use crate::timer::TimerTable;
use crate::wheel::TimerWheel;

/// How a prober starts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The rules of the Kubernetes release to follow.
    pub semantics: Semantics,
    /// Seeds the jitter of first runs.
    pub seed: u64,
    /// The wall clock's offset from the driver's clock.
    pub wall: WallOffset,
    /// Whether first runs are spread over a period while the prober is younger than that period, as in a kubelet.
    pub start_jitter: bool,
    /// At which moments workers run.
    pub phasing: Phasing,
    /// How many runs a second all probes together may make between their ordinary ones, if their options ask for any; 0
    /// for no limit.
    pub extra_runs_per_second: u32,
    /// Whether to push the outputs that only a recorder needs, such as [`Output::Record`].
    pub record: bool,
}

/// A kubelet of the recorded release that starts at the Unix epoch.
impl Default for Settings {
    fn default() -> Self {
        Self {
            semantics: Semantics::default(),
            seed: 0,
            wall: WallOffset::default(),
            start_jitter: true,
            phasing: Phasing::Kubelet,
            extra_runs_per_second: 0,
            record: false,
        }
    }
}

/// When a worker that does not exist yet makes its first run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FirstRun {
    pub(super) pod_uid: Arc<str>,
    pub(super) container: Arc<str>,
    pub(super) probe_type: ProbeType,
    pub(super) at: Instant,
}

/// The prober's whole state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prober {
    pub(super) semantics: Semantics,
    /// When this prober started: the kubelet jitters first runs while it is younger than the probe's period.
    pub(super) started: Instant,
    pub(super) started_wall_ms: i64,
    pub(super) wall: WallOffset,
    pub(super) start_jitter: bool,
    pub(super) phasing: Phasing,
    pub(super) extra: ExtraBudget,
    pub(super) record: bool,
    pub(super) rng: Rng,
    pub(super) pods: Pods,
    pub(super) workers: Slab<Worker>,
    pub(super) results: Results,
    pub(super) memories: Memories,
    /// When workers that do not exist yet begin ([`Prober::expect_first_run`]).
    pub(super) first_runs: Vec<FirstRun>,
    pub(super) wheel: TimerWheel<Timer>,
    pub(super) driver_timers: TimerTable<u64>,
    /// How many ticks in the wheel are dead, because their worker has ended or was disarmed.
    pub(super) dead_ticks: usize,
    /// Counts armed ticks, so that a new worker in a used slot does not take an old tick for its own.
    pub(super) timer_generation: u32,
    /// The workers that wait for their turn at this moment.
    pub(super) ready: VecDeque<WorkerId>,
    /// Whether the last of `ready` takes its turn before the others.
    pub(super) last_is_next: bool,
    pub(super) outputs: VecDeque<Output>,
}

impl Prober {
    /// A prober that starts at `now`.
    pub fn new(settings: Settings, now: Instant) -> Self {
        Self {
            semantics: settings.semantics,
            started: now,
            started_wall_ms: settings.wall.wall_ms(now),
            wall: settings.wall,
            start_jitter: settings.start_jitter,
            phasing: settings.phasing,
            extra: ExtraBudget::new(settings.extra_runs_per_second),
            record: settings.record,
            rng: Rng::new(settings.seed),
            pods: Pods::new(),
            workers: Slab::new(),
            results: Results::new(),
            memories: Memories::default(),
            first_runs: Vec::new(),
            wheel: TimerWheel::new(),
            driver_timers: TimerTable::new(),
            dead_ticks: 0,
            timer_generation: 0,
            ready: VecDeque::new(),
            last_is_next: false,
            outputs: VecDeque::new(),
        }
    }

    /// The rules that the prober follows.
    pub const fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// Sets the wall clock's new offset after a step or a slew.
    pub const fn handle_wall_offset(&mut self, wall: WallOffset) {
        self.wall = wall;
    }

    /// The wall clock's offset.
    pub const fn wall(&self) -> WallOffset {
        self.wall
    }

    /// How the budget for runs between the ordinary ones was used.
    pub const fn extra_runs(&self) -> ExtraRuns {
        self.extra.counts
    }

    /// The next output for the driver.
    pub fn poll_output(&mut self) -> Option<Output> {
        let output = self.outputs.pop_front();
        // A moment in which every worker had outputs must not keep its memory for ever.
        if self.outputs.is_empty() && self.outputs.capacity() > KEPT_OUTPUTS {
            self.outputs.shrink_to(KEPT_OUTPUTS);
        }
        output
    }

    /// The cached result of a container.
    pub fn result(&self, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        self.results.get(probe_type, self.results.find(container_id)?)
    }

    /// Every cached result, in order of the container IDs.
    pub fn results(&self) -> impl Iterator<Item = (ProbeType, &Arc<str>, ProbeResult)> {
        self.results.iter()
    }
}

/// How many outputs fit without a new allocation: more than a busy turn of the engine hands out.
const KEPT_OUTPUTS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_many_outputs_is_freed_once_they_are_drained() {
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        (0..10_000).for_each(|token| prober.outputs.push_back(Output::Timer { token }));
        let peak = prober.outputs.capacity();
        for token in 0..9_999 {
            assert_eq!(prober.poll_output(), Some(Output::Timer { token }));
        }
        assert_eq!(prober.outputs.capacity(), peak, "it stays while outputs wait, because each would be moved");
        assert!(prober.poll_output().is_some());
        assert_eq!(prober.poll_output(), None);
        assert!(prober.outputs.capacity() <= KEPT_OUTPUTS);
    }
}
