//! Counts the requests to one Service: totals, and steps of one width. The number of steps is bounded: once they are
//! full, each two become one of twice the width. No count is lost by that.

use serde::Serialize;

/// Why a request is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    NoEndpoint,
    NotServing,
    QueueFull,
    Timeout,
    Dependency,
    Ended,
}

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) offered: f64,
    pub(super) served: f64,
    pub(super) late: f64,
}

impl Counts {
    fn add(&mut self, other: Self, factor: f64) {
        self.offered += other.offered * factor;
        self.served += other.served * factor;
        self.late += other.late * factor;
    }
}

/// The counts of one Service.
#[derive(Debug)]
pub(super) struct Tally {
    totals: Counts,
    lost_by: [f64; 6],
    width_ns: u64,
    /// From t = 0 on.
    steps: Vec<Counts>,
}

/// The counts as a document. Times in nanoseconds.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    offered: f64,
    served: f64,
    late: f64,
    lost: f64,
    lost_by: LostBy,
    width_ns: u64,
    /// Offered, served and late in each step.
    steps: Vec<[f64; 3]>,
}

#[derive(Debug, Serialize)]
struct LostBy {
    no_endpoint: f64,
    not_serving: f64,
    queue_full: f64,
    timeout: f64,
    dependency: f64,
    ended: f64,
}

impl Tally {
    pub(super) const fn new() -> Self {
        let totals = Counts { offered: 0.0, served: 0.0, late: 0.0 };
        Self { totals, lost_by: [0.0; 6], width_ns: FIRST_WIDTH_NS, steps: Vec::new() }
    }

    /// How wide a step is now.
    pub(super) const fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Counts requests that came evenly between two moments; what is not served is lost, for one reason.
    pub(super) fn add(&mut self, from_ns: u64, to_ns: u64, counts: Counts, loss: Loss) {
        self.totals.add(counts, 1.0);
        self.lost_by[loss as usize] += counts.offered - counts.served;
        if to_ns <= from_ns {
            self.step(from_ns).add(counts, 1.0);
            return;
        }
        self.step(to_ns - 1); // The width is final.
        let (mut at, all) = (from_ns, (to_ns - from_ns) as f64);
        while at < to_ns {
            let until = (at / self.width_ns + 1).saturating_mul(self.width_ns).min(to_ns);
            self.step(at).add(counts, (until - at) as f64 / all);
            at = until;
        }
    }

    /// Takes back requests that were counted as served, most recent ones first: they ended with their container.
    pub(super) fn take_back(&mut self, now_ns: u64, served: f64, late: f64) {
        let latest = usize::try_from(now_ns / self.width_ns).unwrap_or(usize::MAX);
        let (mut served, mut late) = (served, late);
        for step in self.steps.iter_mut().take(latest.saturating_add(1)).rev() {
            let taken = served.min(step.served);
            let taken_late = late.min(step.late).min(taken);
            step.served -= taken;
            step.late = (step.late - taken_late).min(step.served);
            served -= taken;
            late -= taken_late;
            self.totals.served -= taken;
            self.lost_by[Loss::Ended as usize] += taken;
            if served <= 0.0 {
                break;
            }
        }
        self.totals.late = self.steps.iter().map(|step| step.late).sum();
    }

    fn step(&mut self, at_ns: u64) -> &mut Counts {
        while at_ns / self.width_ns >= STEPS_MAX as u64 {
            self.steps = self.steps.chunks(2).map(merged).collect();
            self.width_ns *= 2;
        }
        let index = (at_ns / self.width_ns) as usize;
        if index >= self.steps.len() {
            self.steps.resize(index + 1, Counts::default());
        }
        &mut self.steps[index]
    }

    pub(super) fn document(&self) -> Document {
        let Counts { offered, served, late } = self.totals;
        let [no_endpoint, not_serving, queue_full, timeout, dependency, ended] = self.lost_by;
        Document {
            offered,
            served,
            late,
            lost: self.lost_by.iter().sum(),
            lost_by: LostBy { no_endpoint, not_serving, queue_full, timeout, dependency, ended },
            width_ns: self.width_ns,
            steps: self.steps.iter().map(|step| [step.offered, step.served, step.late]).collect(),
        }
    }
}

fn merged(steps: &[Counts]) -> Counts {
    let mut sum = Counts::default();
    steps.iter().for_each(|step| sum.add(*step, 1.0));
    sum
}

/// Steps of a Service: finer than any picture is wide.
pub(super) const STEPS_MAX: usize = 4_096;
const FIRST_WIDTH_NS: u64 = 125_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(tally: &Tally) -> Counts {
        merged(&tally.steps)
    }

    proptest! {
        #[test]
        fn steps_and_totals_have_the_same_sums_whatever_the_width(
            spans in proptest::collection::vec((0_u64..200_000, 0.0..1_000.0, 0.0..1.0_f64, 0.0..1.0_f64), 1..60)
        ) {
            let (mut tally, mut now) = (Tally::new(), 0);
            for (length_ms, offered, served, late) in spans {
                let (from, served) = (now, offered * served);
                now += length_ms * 1_000_000;
                tally.add(from, now, Counts { offered, served, late: served * late }, Loss::Timeout);
                tally.take_back(now, served / 3.0, served * late / 3.0);
            }
            let (steps, totals) = (sum(&tally), tally.totals);
            let lost: f64 = tally.lost_by.iter().sum();
            prop_assert!(tally.steps.len() <= STEPS_MAX);
            prop_assert!((totals.offered - totals.served - lost).abs() < 1e-6 * (1.0 + totals.offered));
            for (one, other) in [
                (steps.offered, totals.offered), (steps.served, totals.served), (steps.late, totals.late)
            ] {
                prop_assert!((one - other).abs() < 1e-6 * (1.0 + other), "{one} {other}");
            }
            prop_assert!(tally.steps.iter().all(|step| step.late <= step.served + 1e-9 && step.served >= -1e-9));
        }
    }
}
