//! When the kubelet looks at a container that waits (pod_workers.go:completeWork and pleg/generic.go, 1.36).

use std::time::Duration;

use crate::rng::Rng;
use crate::time::Instant;

/// The relist of the containers, and the poll of the pod workers' queue: both happen once a second.
pub const TICK: Duration = Duration::from_secs(1);

/// No pod is left alone for longer than this, before the random part (`--sync-frequency`).
pub const RESYNC: Duration = Duration::from_secs(60);

/// When an exit is noticed: at the next relist.
pub const fn noticed(finished: Instant) -> Instant {
    next_tick(finished)
}

/// When a pod is looked at again after a start was refused until `due`.
///
/// The rest of the wait, at most [`RESYNC`], times an even draw from [1, 1.5), and then the next poll of the queue. So
/// it is never early, and late by up to half of what was left when it was last looked at.
pub fn look_again(due: Instant, now: Instant, rng: &mut Rng) -> Instant {
    let rest = due.since(now).min(RESYNC).as_nanos() as u64;
    next_tick(now + Duration::from_nanos(rest + rng.below(rest / 2)))
}

const fn next_tick(at: Instant) -> Instant {
    let tick = TICK.as_nanos() as u64;
    Instant::from_nanos(at.as_nanos().div_ceil(tick).saturating_mul(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, 99th percentile and maximum of the lateness of a wait, in seconds.
    fn lateness(wait: u64) -> (f64, u64, u64) {
        let mut rng = Rng::new(1);
        let due = Instant::from_millis(wait * 1_000);
        let mut late: Vec<u64> = (0..20_000)
            .map(|_| {
                let mut now = Instant::ZERO;
                while now < due {
                    now = look_again(due, now, &mut rng);
                }
                now.since(due).as_secs()
            })
            .collect();
        late.sort_unstable();
        let mean = late.iter().sum::<u64>() as f64 / late.len() as f64;
        (mean, late[late.len() * 99 / 100], late[late.len() - 1])
    }

    #[test]
    fn a_restart_is_late_by_up_to_half_of_the_rest_and_never_early() {
        for (wait, mean, p99, max) in [
            (1, 1.0, 1, 1),
            (10, 3.0, 5, 5),
            (20, 5.5, 10, 10),
            (60, 15.5, 30, 30),
            (160, 5.0, 17, 20),
            (300, 8.0, 27, 30),
        ] {
            let found = lateness(wait);
            assert!((found.0 - mean).abs() < 0.5, "{wait}: {found:?}");
            assert_eq!((found.1, found.2), (p99, max), "{wait}");
        }
    }

    #[test]
    fn an_exit_is_noticed_at_the_next_relist() {
        assert_eq!(noticed(Instant::from_millis(2_000)), Instant::from_millis(2_000));
        assert_eq!(noticed(Instant::from_millis(2_001)), Instant::from_millis(3_000));
    }
}
