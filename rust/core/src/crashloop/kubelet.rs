//! When the kubelet syncs a pod with a waiting container (pod_workers.go:completeWork and pleg/generic.go, 1.36).

use std::time::Duration;

use crate::rng::Rng;
use crate::time::Instant;

/// How often the kubelet relists the containers, and how often it polls the pod workers' queue.
pub const TICK: Duration = Duration::from_secs(1);

/// The longest time between two syncs of a pod, before the random part (`--sync-frequency`).
pub const RESYNC: Duration = Duration::from_secs(60);

/// How long after an error that names no moment the kubelet syncs the pod again, before the random part
/// (`backOffPeriod`).
pub const RETRY: Duration = Duration::from_secs(10);

/// When the kubelet notices an exit: at the next relist.
pub const fn noticed(finished: Instant) -> Instant {
    next_tick(finished)
}

/// When the kubelet syncs a pod again after a sync that failed.
///
/// `due` is the moment from which the first of the pod's refused starts may happen; beside a refused start, other
/// errors do not count. Without `due` the pod waits [`RETRY`]. The kubelet multiplies the rest of the wait, at most
/// [`RESYNC`], by an even draw from [1, 1.5), and then waits for the next poll of the queue. So a start is never early,
/// and late by up to half of the wait that was left at the last sync.
pub fn look_again(due: Option<Instant>, now: Instant, rng: &mut Rng) -> Instant {
    let rest = due.map_or(RETRY, |due| due.since(now)).min(RESYNC).as_nanos() as u64;
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
                    now = look_again(Some(due), now, &mut rng);
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

    /// The first and the last whole second after `now` at which the kubelet may sync a pod again.
    fn looks(due: Option<u64>, now: u64) -> (u64, u64) {
        let mut rng = Rng::new(1);
        let due = due.map(|due| Instant::from_millis(due * 1_000));
        let now = Instant::from_millis(now * 1_000);
        let looks = (0..2_000).map(|_| look_again(due, now, &mut rng).since(now));
        let seconds: Vec<u64> = looks.map(|look| look.as_secs()).collect();
        (*seconds.iter().min().unwrap(), *seconds.iter().max().unwrap())
    }

    #[test]
    fn a_pod_is_synced_after_the_rest_of_its_wait_and_up_to_half_more_at_the_next_poll() {
        assert_eq!(looks(Some(105), 100), (6, 8));
        assert_eq!(looks(Some(100), 100), (0, 0));
        assert_eq!(looks(Some(95), 100), (0, 0), "the container could have started five seconds ago");
        assert_eq!(looks(Some(300), 100), (61, 90), "no longer than a resync");
        assert_eq!(looks(None, 100), (11, 15), "an error that names no moment");
    }

    #[test]
    fn an_exit_is_noticed_at_the_next_relist() {
        assert_eq!(noticed(Instant::from_millis(2_000)), Instant::from_millis(2_000));
        assert_eq!(noticed(Instant::from_millis(2_001)), Instant::from_millis(3_000));
    }
}
