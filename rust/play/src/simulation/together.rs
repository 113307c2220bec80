//! Several simulations on one clock, whose containers answer by one model.

use std::time::Duration;

use probelet_core::time::Instant;

use super::virtual_cluster::ClusterModel;
use super::virtual_prober::{Simulation, Stop};

/// How far simulations were played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Nanoseconds since t = 0.
    pub now_ns: u64,
    /// Whether a pod asks for a sync.
    pub has_sync: bool,
}

/// Plays on until `until_ns` after t = 0, but not beyond a moment in which a pod asks for a sync. On return every
/// simulation is at one moment, and everything that was due until then has happened on all of them.
///
/// The earliest simulation goes first, and the first of equal ones, up to the next one's moment.
pub fn play_together(simulations: &mut [&mut Simulation], model: &mut ClusterModel, until_ns: u64) -> Reached {
    let mut has_sync = false;
    // What callers changed since the last time happens first.
    for simulation in &mut *simulations {
        while simulation.play_on(simulation.now, Stop::Sync, model) {
            has_sync = true;
        }
    }
    let now_ns =
        simulations.iter().map(|simulation| simulation.since_zero_ns(simulation.now)).max().unwrap_or_default();
    let mut end_ns = if has_sync { now_ns } else { until_ns.max(now_ns) };
    let mut next: Vec<u64> = simulations.iter_mut().map(|simulation| simulation.next_ns()).collect();
    while let Some((index, _)) = earliest(&next, None).filter(|(_, first)| *first <= end_ns) {
        // At one moment a simulation goes before those behind it, wherever a caller made its stops.
        let limit = earliest(&next, Some(index))
            .map_or(end_ns, |(other, second)| if other < index { second - 1 } else { second })
            .min(end_ns);
        let simulation = &mut *simulations[index];
        if simulation.play_on(simulation.moment(limit), Stop::Sync, model) {
            // The rest of that moment happens too, on every simulation.
            has_sync = true;
            end_ns = simulation.since_zero_ns(simulation.now);
        }
        next[index] = simulation.next_ns();
    }
    for simulation in simulations {
        simulation.now = simulation.now.max(simulation.moment(end_ns));
    }
    Reached { now_ns: end_ns, has_sync }
}

/// The earliest moment and whose it is, without that of `but`.
fn earliest(next: &[u64], but: Option<usize>) -> Option<(usize, u64)> {
    let all = next.iter().copied().enumerate().filter(|(index, _)| Some(*index) != but);
    all.reduce(|best, one| if one.1 < best.1 { one } else { best })
}

impl Simulation {
    /// Keeps events, updates and syncs although nothing is recorded. Of equal events of a probe the first one is kept.
    pub fn keep_changes(&mut self) {
        self.keeps_changes = true;
    }

    /// Keeps turns among the changes too, of probes whose answers come from the behaviour of a container.
    pub const fn watch_turns(&mut self) {
        self.watches_turns = true;
    }

    /// Recalls what an earlier prober knew of its containers, as from a journal.
    pub fn recall(&mut self, earlier: &Self) {
        earlier.manager.prober().memories().for_each(|memory| self.manager.prober_mut().recall(memory));
    }

    /// What was written since the last time, as a JSON list; plays nothing.
    pub fn changes_json(&mut self) -> Vec<u8> {
        serde_json::to_vec(&std::mem::take(&mut self.records)).expect("plain data")
    }

    /// When something happens next, nanoseconds since t = 0; the end of time if never.
    fn next_ns(&mut self) -> u64 {
        self.next_event().map_or(u64::MAX, |next| self.since_zero_ns(next.max(self.now)))
    }

    fn moment(&self, ns: u64) -> Instant {
        self.zero + Duration::from_nanos(ns)
    }
}
