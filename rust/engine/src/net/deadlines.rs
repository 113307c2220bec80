//! When the time of each attempt is over.

use std::collections::BTreeSet;
use std::time::Instant;

/// The deadlines of attempts, each under its attempt's number.
///
/// Nearly every attempt ends long before its deadline, and its number then serves an attempt with a later one. So a number
/// keeps its place in the order until somebody asks for deadlines as early as that place, and only then moves on. Of
/// thousands of attempts a second that leaves a few changes of the order.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// The places of numbers, the earliest first.
    order: BTreeSet<(Instant, u32)>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// When the time of the number's attempt is over; None without an attempt.
    deadline: Option<Instant>,
    /// The number's place in the order, at its deadline or before. A number with a deadline has one.
    place: Option<Instant>,
}

impl Deadlines {
    /// Begins the time of an attempt.
    pub(super) fn begin(&mut self, number: u32, deadline: Instant) {
        let index = number as usize;
        if index >= self.rows.len() {
            self.rows.resize(index + 1, Row::default());
        }
        let row = &mut self.rows[index];
        row.deadline = Some(deadline);
        if row.place.is_none_or(|place| place > deadline) {
            if let Some(place) = row.place.replace(deadline) {
                self.order.remove(&(place, number));
            }
            self.order.insert((deadline, number));
        }
    }

    /// Ends the time of a number's attempt.
    pub(super) fn end(&mut self, number: u32) {
        if let Some(row) = self.rows.get_mut(number as usize) {
            row.deadline = None;
        }
    }

    /// The first deadline, and whose it is, if the caller `asks` for deadlines as early as that. A caller that asks for one
    /// moment asks for all that are earlier.
    pub(super) fn first(&mut self, asks: impl Fn(Instant) -> bool) -> Option<(Instant, u32)> {
        loop {
            let Some(&(place, number)) = self.order.first() else {
                self.rows = Vec::new();
                return None;
            };
            if !asks(place) {
                return None;
            }
            let row = &mut self.rows[number as usize];
            if row.deadline == Some(place) {
                return Some((place, number));
            }
            self.order.pop_first();
            row.place = row.deadline;
            self.order.extend(row.deadline.map(|deadline| (deadline, number)));
        }
    }

    /// Takes the number of an attempt whose time is over at `now`.
    pub(super) fn pop_over(&mut self, now: Instant) -> Option<u32> {
        let (_, number) = self.first(|deadline| deadline <= now)?;
        self.order.pop_first();
        self.rows[number as usize] = Row::default();
        Some(number)
    }

    /// Whether no number has a place.
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Begin(u32, u64),
        End(u32),
        Pass(u64),
        Ask(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..4_u32, 0..20_u64).prop_map(|(number, after)| Step::Begin(number, after)),
            (0..4_u32).prop_map(Step::End),
            (0..20_u64).prop_map(Step::Pass),
            (0..40_u64).prop_map(Step::Ask),
        ]
    }

    proptest! {
        #[test]
        fn deadlines_come_in_order_and_only_those_of_attempts(steps in prop::collection::vec(step(), 1..200)) {
            let start = Instant::now();
            let at = |ms| start + Duration::from_millis(ms);
            let (mut deadlines, mut model, mut now) = (Deadlines::default(), BTreeMap::<u32, u64>::new(), 0);
            for step in steps {
                match step {
                    Step::Begin(number, after) => {
                        deadlines.begin(number, at(now + after));
                        model.insert(number, now + after);
                    }
                    Step::End(number) => {
                        deadlines.end(number);
                        model.remove(&number);
                    }
                    Step::Pass(time) => {
                        now += time;
                        let mut over: Vec<(u64, u32)> =
                            model.iter().filter(|(_, ms)| **ms <= now).map(|(number, ms)| (*ms, *number)).collect();
                        over.sort_unstable();
                        let taken: Vec<u32> = std::iter::from_fn(|| deadlines.pop_over(at(now))).collect();
                        prop_assert_eq!(taken, over.iter().map(|(_, number)| *number).collect::<Vec<_>>());
                        model.retain(|_, ms| *ms > now);
                    }
                    Step::Ask(until) => {
                        let first = model.values().min().copied().filter(|ms| *ms <= until).map(at);
                        let asked = deadlines.first(|deadline| deadline <= at(until)).map(|(deadline, _)| deadline);
                        prop_assert_eq!(asked, first);
                    }
                }
                prop_assert!(model.is_empty() || !deadlines.is_empty());
            }
            model.keys().for_each(|number| deadlines.end(*number));
            prop_assert_eq!(deadlines.first(|_| true), None);
            prop_assert!(deadlines.is_empty() && deadlines.rows.is_empty(), "memory goes back");
        }
    }

    #[test]
    fn a_number_that_serves_many_attempts_moves_once() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut deadlines = Deadlines::default();
        for ms in 0..1_000 {
            let now = start + Duration::from_millis(ms);
            deadlines.begin(7, now + second);
            assert_eq!((deadlines.pop_over(now), deadlines.order.first()), (None, Some(&(start + second, 7))));
            deadlines.end(7);
        }
    }
}
