//! Which deadlines share a wake-up of the engine's thread. A wake-up costs as much as a third of a probe.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use probelet_core::time::Instant;
use probelet_core::timer::TimerId;

/// How late what is due may come so that it shares a wake-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Of a probe.
    pub(crate) probe: Duration,
    /// Of everything else: callers' timers, the journal, the flight recorder.
    pub(crate) other: Duration,
}

impl Patience {
    /// The patience of a node whose owner allows `slack`; `has_only_execs`: every worker has an exec probe.
    pub(crate) fn of(slack: Duration, has_only_execs: bool) -> Self {
        let other = if has_only_execs { SHARED_BY_EXECS } else { SHARED };
        Self { probe: slack.max(other), other }
    }

    /// When the thread wakes. `deadline` is the core's next one, and `is_together` whether the workers that are due then
    /// wait for nobody; `others` are deadlines that are no probes', which the core may count too.
    pub(crate) fn wake_up(
        self,
        deadline: Option<Instant>,
        is_together: bool,
        others: impl IntoIterator<Item = Instant>,
    ) -> Option<Instant> {
        let patience = if is_together { Duration::ZERO } else { self.probe };
        let others = others.into_iter().map(|deadline| deadline + self.other);
        deadline.map(|deadline| deadline + patience).into_iter().chain(others).min()
    }
}

/// The deadlines of callers' timers. The core keeps the timers in one wheel with the workers' ticks, and knows only the
/// first deadline of both; but a probe may be later than a grace or a back-off.
#[derive(Debug, Default)]
pub(crate) struct CallerTimers {
    by_deadline: BTreeSet<(Instant, u64)>,
    deadlines: HashMap<u64, Instant>,
}

impl CallerTimers {
    /// Notes a timer that was armed.
    pub(crate) fn armed(&mut self, timer: TimerId, deadline: Instant) {
        self.deadlines.insert(timer.to_bits(), deadline);
        self.by_deadline.insert((deadline, timer.to_bits()));
    }

    /// Forgets a timer.
    pub(crate) fn cancelled(&mut self, timer: TimerId) {
        if let Some(deadline) = self.deadlines.remove(&timer.to_bits()) {
            self.by_deadline.remove(&(deadline, timer.to_bits()));
        }
    }

    /// The first deadline.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    /// Forgets the timers that the core has fired by settling `now`.
    pub(crate) fn settled(&mut self, now: Instant) {
        while let Some(&(deadline, timer)) = self.by_deadline.first()
            && deadline <= now
        {
            self.by_deadline.pop_first();
            self.deadlines.remove(&timer);
        }
    }
}

/// How late a probe may be without anybody's leave.
const SHARED: Duration = Duration::from_millis(1);
/// The same on a node whose probes are all exec probes. Their wake-up wakes Python too, and a runtime takes ten times
/// as long to run the shortest command.
const SHARED_BY_EXECS: Duration = Duration::from_millis(4);

#[cfg(test)]
mod tests {
    use probelet_core::timer::TimerTable;
    use proptest::prelude::*;

    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    proptest! {
        #[test]
        fn nothing_is_early_and_a_probe_alone_is_later_than_others_may_be(
            slack_us in 0..100_000_u64,
            deadline_us in 0..1_000_000_u64,
            others_us in prop::collection::vec(0..1_000_000_u64, 0..4),
            has_only_execs in any::<bool>(),
        ) {
            let slack = Duration::from_micros(slack_us);
            let patience = Patience::of(slack, has_only_execs);
            let others: Vec<Instant> = others_us.iter().copied().map(at).collect();
            let deadline = at(deadline_us).min(others.iter().min().copied().unwrap_or(at(deadline_us)));
            let wake_up = patience.wake_up(Some(deadline), false, others.iter().copied()).expect("something is due");
            prop_assert!(wake_up >= deadline);
            let default = if has_only_execs { SHARED_BY_EXECS } else { SHARED };
            prop_assert!(wake_up <= deadline + slack.max(default));
            prop_assert!(others.iter().all(|&other| wake_up <= other + default));
            prop_assert!(patience.wake_up(Some(deadline), true, others).expect("due") == deadline);
        }
    }

    #[test]
    fn without_a_deadline_the_thread_sleeps() {
        assert_eq!(Patience::of(Duration::ZERO, false).wake_up(None, false, None), None);
        assert_eq!(Patience::of(Duration::ZERO, false).wake_up(None, false, Some(at(5))), Some(at(1_005)));
    }

    #[test]
    fn timers_are_forgotten_when_they_fire_and_when_they_are_cancelled() {
        let (mut names, mut timers) = (TimerTable::new(), CallerTimers::default());
        let ids: Vec<TimerId> = (1..=3)
            .map(|us| (names.insert(()), at(us)))
            .map(|(id, deadline)| {
                timers.armed(id, deadline);
                id
            })
            .collect();
        let settled = |timers: &mut CallerTimers, us| {
            timers.settled(at(us));
            timers.next()
        };
        assert_eq!(settled(&mut timers, 0), Some(at(1)));
        timers.cancelled(ids[0]);
        assert_eq!(timers.next(), Some(at(2)));
        assert_eq!(settled(&mut timers, 2), Some(at(3)), "the core has settled this moment");
        timers.cancelled(ids[1]);
        timers.cancelled(ids[2]);
        assert_eq!((timers.next(), timers.deadlines.len()), (None, 0));
    }
}
