//! The restarts of one container that crashes.

use std::time::Duration;

use super::kubelet::{look_again, noticed};
use crate::backoff::{Curve, Decision, Entry, Exit, decide, entry_after};
use crate::restart::RestartPolicy;
use crate::rng::Rng;
use crate::time::Instant;

/// What wakes a waiting container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// A timer at the due time; an exit is noticed when it happens.
    Exact,
    /// The kubelet's sync loop: relist, re-queue and housekeeping (see [`look_again`]).
    Kubelet,
}

/// A kind of container that crashes, and the rules it is under.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The delays.
    pub curve: Curve,
    /// The largest random part by which a delay grows, in thousandths of the delay before (client-go's maxJitterFactor;
    /// the kubelet passes 0). The delay stays within the curve's max.
    pub jitter_milli: u32,
    /// The shortest run.
    pub run_min: Duration,
    /// The longest run; each life's run is drawn evenly between the two.
    pub run_max: Duration,
    /// The exit code of each run.
    pub exit_code: i32,
    /// The container's restart policy.
    pub policy: RestartPolicy,
    /// What wakes the container.
    pub scheduler: Scheduler,
}

/// One restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// When the start decision let the container run again.
    pub at: Instant,
    /// When the container had ended.
    pub finished: Instant,
    /// The delay that the restart cost; zero for a free one.
    pub delay: Duration,
}

/// The restarts of one container in order. They end only if its policy allows none.
#[derive(Clone, Debug)]
pub struct Restarts<'a> {
    scene: &'a Scene,
    rng: Rng,
    started: Instant,
    entry: Option<Entry>,
}

impl<'a> Restarts<'a> {
    /// The restarts of a container whose first start is at `started`.
    pub const fn new(scene: &'a Scene, started: Instant, seed: u64) -> Self {
        Self { scene, rng: Rng::new(seed), started, entry: None }
    }

    fn run(&mut self) -> Duration {
        let (min, max) = (nanos(self.scene.run_min), nanos(self.scene.run_max));
        if max <= min { self.scene.run_min } else { Duration::from_nanos(min + self.rng.below(max - min + 1)) }
    }

    /// Records the entry that this start leaves behind. Jitter is a part of the delay before, as in client-go's
    /// `Backoff.Next`.
    fn record(&mut self, finished: Instant, now: Instant) {
        let curve = &self.scene.curve;
        let mut entry = entry_after(self.entry.as_ref(), curve, finished, now);
        if self.scene.jitter_milli > 0 {
            let before = self.entry.filter(|_| entry.step > 1).map_or(entry.delay, |old| old.delay);
            let bound = u128::from(nanos(before)) * u128::from(self.scene.jitter_milli) / 1_000;
            let jitter = self.rng.below(u64::try_from(bound).unwrap_or(u64::MAX));
            entry.delay = entry.delay.saturating_add(Duration::from_nanos(jitter)).min(curve.max);
        }
        self.entry = Some(entry);
        self.started = now;
    }
}

impl Iterator for Restarts<'_> {
    type Item = Restart;

    fn next(&mut self) -> Option<Restart> {
        let scene = self.scene;
        let exit = Exit { finished: self.started + self.run(), code: scene.exit_code };
        let by_kubelet = scene.scheduler == Scheduler::Kubelet;
        let mut now = if by_kubelet { noticed(exit.finished) } else { exit.finished };
        let mut charged = Duration::ZERO;
        loop {
            if by_kubelet && self.entry.is_some_and(|entry| entry.left_alone(&scene.curve, now)) {
                self.entry = None;
            }
            match decide(Some(exit), scene.policy, &[], self.entry.as_ref(), &scene.curve, now) {
                Decision::Never => return None,
                Decision::Start { .. } => break,
                Decision::Wait { due, delay } => {
                    charged = delay;
                    now = if by_kubelet { look_again(Some(due), now, &mut self.rng) } else { due };
                }
            }
        }
        self.record(exit.finished, now);
        Some(Restart { at: now, finished: exit.finished, delay: charged })
    }
}

pub(super) fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backoff::Backoff;

    fn scene(curve: Curve, run: u64) -> Scene {
        let run = Duration::from_secs(run);
        Scene {
            curve,
            jitter_milli: 0,
            run_min: run,
            run_max: run,
            exit_code: 1,
            policy: RestartPolicy::Always,
            scheduler: Scheduler::Exact,
        }
    }

    fn curve(initial: u64, max: u64) -> Curve {
        Curve { initial: Duration::from_secs(initial), max: Duration::from_secs(max), ..Curve::default() }
    }

    fn seconds(scene: &Scene, count: usize) -> Vec<u64> {
        Restarts::new(scene, Instant::ZERO, 1).take(count).map(|r| r.at.as_nanos() / 1_000_000_000).collect()
    }

    #[test]
    fn a_container_that_crashes_at_once_follows_the_shipped_and_the_advertised_curve() {
        assert_eq!(seconds(&scene(curve(1, 60), 0), 9), [0, 1, 3, 7, 15, 31, 63, 123, 183]);
        let advertised = Curve { first_free: false, ..curve(1, 60) };
        assert_eq!(seconds(&scene(advertised, 0), 9), [1, 3, 7, 15, 31, 63, 123, 183, 243]);
        assert_eq!(seconds(&scene(advertised, 10), 4), [11, 23, 37, 55]);
    }

    #[test]
    fn without_a_free_restart_a_reset_begins_again_at_the_initial_delay() {
        let advertised = Curve { first_free: false, ..Curve::default() };
        let waits = |run| -> Vec<u64> {
            let scene = scene(advertised, run);
            Restarts::new(&scene, Instant::ZERO, 1).take(8).map(|r| r.delay.as_secs()).collect()
        };
        assert_eq!(waits(601), [10; 8], "the exit rule");
        assert_eq!(waits(301), [10, 20, 40, 80, 160, 300, 10, 20], "left alone");
    }

    #[test]
    fn a_container_whose_policy_allows_no_restart_has_none() {
        let done = Scene { exit_code: 0, policy: RestartPolicy::OnFailure, ..scene(Curve::default(), 5) };
        assert_eq!(Restarts::new(&done, Instant::ZERO, 1).next(), None);
    }

    #[test]
    fn jitter_adds_up_to_its_part_of_the_delay_before_and_stays_within_the_max() {
        let jittery = Scene { jitter_milli: 100, ..scene(curve(10, 300), 0) };
        let mut before = 0.0;
        for restart in Restarts::new(&jittery, Instant::ZERO, 7).skip(1).take(30) {
            let delay = restart.delay.as_secs_f64();
            assert!(delay == 300.0 || before == 0.0 || (2.0 * before..=2.1 * before).contains(&delay), "{delay}");
            assert!(delay <= 300.0);
            before = delay;
        }
    }

    #[test]
    fn jitter_is_drawn_from_its_part_of_the_delay_before_and_a_reset_delay_has_its_own() {
        let jittery = Scene { jitter_milli: 100, ..scene(curve(10, 100_000), 0) };
        let restarts = Restarts::new(&jittery, Instant::ZERO, 7);
        let delays: Vec<f64> = restarts.skip(1).take(8).map(|restart| restart.delay.as_secs_f64()).collect();
        // A delay that was not used for ten minutes is reset.
        assert!([delays[0], delays[7]].iter().all(|delay| (10.0..11.0).contains(delay)), "{delays:?}");
        let parts: Vec<f64> = delays[..7].windows(2).map(|pair| pair[1] / pair[0] - 2.0).collect();
        assert!(parts.iter().all(|part| (0.0..0.1).contains(part)), "{parts:?}");
        assert!((0.02..0.08).contains(&(parts.iter().sum::<f64>() / 6.0)), "{parts:?}");
    }

    #[test]
    fn runs_are_drawn_evenly_from_the_shortest_to_the_longest() {
        let runs = |min, max| {
            let (run_min, run_max) = (Duration::from_nanos(min), Duration::from_nanos(max));
            let lives = Scene { run_min, run_max, ..scene(Curve::default(), 0) };
            let mut restarts = Restarts::new(&lives, Instant::ZERO, 1);
            let mut counts = [0; 10];
            for _ in 0..400 {
                counts[restarts.run().as_nanos() as usize] += 1;
            }
            counts
        };
        let counts = runs(5, 8);
        assert!(counts[5..=8].iter().all(|count| (70..130).contains(count)), "{counts:?}");
        assert_eq!((runs(7, 7)[7], runs(9, 3)[9]), (400, 400));
    }

    proptest! {
        /// The live manager's table, driven in the same way, starts the container at the same moments.
        #[test]
        fn agrees_with_the_live_table(
            initial in 1..30_u64, max in 1..400_u64, run in 0..700_u64, first_free: bool, factor_milli in 1_000..4_000_u32,
        ) {
            let curve = Curve { first_free, factor_milli, ..curve(initial.min(max), max) };
            let scene = scene(curve, run);
            let mut table = Backoff::new(curve);
            let mut started = Instant::ZERO;
            for restart in Restarts::new(&scene, Instant::ZERO, 1).take(20) {
                let finished = started + Duration::from_secs(run);
                let mut now = finished;
                let exit = Some(Exit { finished, code: 1 });
                if let Decision::Wait { due, .. } = table.decide("c", exit, RestartPolicy::Always, &[], now) {
                    now = due;
                    let decision = table.decide("c", exit, RestartPolicy::Always, &[], now);
                    prop_assert!(matches!(decision, Decision::Start { .. }), "{decision:?}");
                }
                prop_assert_eq!(restart.at, now);
                started = now;
            }
        }
    }
}
