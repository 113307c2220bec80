//! The budget for runs between the ordinary ones ([`ProbeOptions`](crate::options::ProbeOptions)).
//!
//! Every worker has at most one such run ahead, and asks when that run is due. The budget gives out moments in the order of
//! the questions, so that workers who want more than their share all get the same, however fast they ask. A moment that
//! is not before the worker's ordinary tick is not taken: the ordinary runs do not depend on the budget.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// Moments for extra runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExtraBudget {
    /// From one moment to the next; zero if there is no limit.
    spacing: Duration,
    /// The first moment that nobody has.
    free: Instant,
    pub(crate) counts: ExtraRuns,
}

/// How the budget was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraRuns {
    /// Runs that began when they were due.
    pub in_time: u64,
    /// Runs that waited for the budget.
    pub late: u64,
    /// Runs that the worker's next ordinary run took the place of.
    pub left_out: u64,
}

impl ExtraBudget {
    /// A budget of so many runs a second; 0 for no limit.
    pub(crate) fn new(per_second: u32) -> Self {
        let spacing = Duration::from_secs(1).checked_div(per_second).unwrap_or_default();
        Self { spacing, free: Instant::ZERO, counts: ExtraRuns::default() }
    }

    /// The moment of a run that is due at `now`: now or later, and before `end`. None if there is none.
    pub(crate) fn take(&mut self, now: Instant, end: Instant) -> Option<Instant> {
        let at = now.max(self.free - BURST);
        if at >= end {
            self.counts.left_out += 1;
            return None;
        }
        self.free = self.free.max(at) + self.spacing;
        *(if at == now { &mut self.counts.in_time } else { &mut self.counts.late }) += 1;
        Some(at)
    }
}

/// Runs that are due together may begin together, as many as the budget has in this time.
const BURST: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Instant = Instant::from_millis(1_000_000);

    #[test]
    fn without_a_limit_every_run_begins_when_it_is_due() {
        let mut budget = ExtraBudget::new(0);
        assert!((0..1_000).all(|_| budget.take(Instant::from_millis(7), FAR) == Some(Instant::from_millis(7))));
        assert_eq!(budget.counts, ExtraRuns { in_time: 1_000, ..ExtraRuns::default() });
    }

    #[test]
    fn moments_are_given_out_in_the_order_of_the_questions() {
        let mut budget = ExtraBudget::new(20);
        let at: Vec<_> = (0..5).map(|_| budget.take(Instant::from_millis(1_000), FAR)).collect();
        // Two spacings of 50 ms are within the burst.
        assert_eq!(at, [1_000, 1_000, 1_000, 1_050, 1_100].map(|millis| Some(Instant::from_millis(millis))));
        assert_eq!(budget.counts, ExtraRuns { in_time: 3, late: 2, left_out: 0 });
        assert_eq!(budget.take(Instant::from_millis(1_000), Instant::from_millis(1_150)), None);
        assert_eq!(budget.counts.left_out, 1);
        assert_eq!(budget.take(Instant::from_millis(1_300), FAR), Some(Instant::from_millis(1_300)), "time has passed");
    }
}
