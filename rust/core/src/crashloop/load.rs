//! How often all containers of a node restart.

use std::time::Duration;

use super::restarts::{Restarts, Scene, nanos};
use crate::time::Instant;

/// The restarts of many containers from zero to the end of a window, counted by time.
///
/// Slot *k* counts the restarts after its beginning and up to its end. The first slot also counts those at zero, and
/// the last one those at the very end of the window. So the sum counts the restarts *within* the window, both ends
/// included.
#[derive(Clone, Debug)]
pub struct Load {
    window: Instant,
    width: u64,
    slots: Vec<u64>,
    restarts: u64,
}

impl Load {
    /// An empty count. A `width` of zero counts as a nanosecond.
    pub fn new(window: Duration, width: Duration) -> Self {
        let width = nanos(width).max(1);
        let slots = nanos(window).div_ceil(width).max(1);
        let slots = vec![0; usize::try_from(slots).unwrap_or(usize::MAX)];
        Self { window: Instant::ZERO + window, width, slots, restarts: 0 }
    }

    /// Adds the restarts of one container whose first start is at `started`.
    pub fn add(&mut self, scene: &Scene, started: Instant, seed: u64) {
        for restart in Restarts::new(scene, started, seed) {
            if restart.at > self.window {
                break;
            }
            self.restarts += 1;
            let slot = restart.at.as_nanos().div_ceil(self.width).saturating_sub(1);
            self.slots[slot as usize] += 1;
        }
    }

    /// Restarts within the window.
    pub const fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Restarts by slot.
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::super::restarts::Scheduler;
    use super::*;
    use crate::backoff::Curve;
    use crate::restart::RestartPolicy;

    const SCENE: Scene = Scene {
        curve: Curve::REDUCED,
        jitter_milli: 0,
        run_min: Duration::ZERO,
        run_max: Duration::ZERO,
        exit_code: 1,
        policy: RestartPolicy::Always,
        scheduler: Scheduler::Exact,
    };

    #[test]
    fn both_ends_of_the_window_are_inside() {
        let mut load = Load::new(Duration::from_secs(15), Duration::from_secs(5));
        load.add(&SCENE, Instant::ZERO, 1);
        assert_eq!((load.restarts(), load.slots()), (5, &[3, 1, 1][..]), "0 1 3, then 7, then 15");
    }

    #[test]
    fn containers_that_begin_later_have_less_of_the_window() {
        let mut load = Load::new(Duration::from_secs(15), Duration::from_secs(15));
        load.add(&SCENE, Instant::from_millis(10_000), 1);
        assert_eq!(load.slots(), [3], "10 11 13");
    }
}
