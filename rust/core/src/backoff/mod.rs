//! Crash-loop back-off: the table, and the start decision.
//!
//! The rules are client-go's `flowcontrol.Backoff` as the kubelet uses it (kuberuntime_manager.go:doBackOff, 1.36):
//!
//! 1. Start *n* fixed the delay that follows exit *n*: a start stores `initial` for a key without an entry, and the
//!    doubled delay, at most `max`, for a key with one.
//! 2. The first restart is free, because there is no entry at the first exit. With [`Curve::first_free`] off it costs
//!    the initial delay, as the documentation says (kubernetes#123602).
//! 3. A container that ran strictly longer than `reset` since its last start has no entry any more, so its restart is
//!    free.
//! 4. The kubelet's housekeeping also drops entries that were not touched for `reset`. This table checks that when a
//!    container exits and when its wait is over, so that it never cuts a wait short.

mod curve;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::curve::Curve;
use crate::restart::{RestartPolicy, RestartRule, RestartSpec};
use crate::time::Instant;

/// The back-off of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The delay that the next exit will cost.
    pub delay: Duration,
    /// When the gate last started the container.
    pub last_start: Instant,
    /// How many starts this entry has seen; 1 for a new one.
    pub step: u32,
}

impl Entry {
    /// Whether the last start under this entry is so long ago that the kubelet's housekeeping drops the entry.
    pub fn left_alone(&self, curve: &Curve, now: Instant) -> bool {
        now.since(self.last_start) > curve.reset
    }

    fn ran_long(&self, curve: &Curve, finished: Instant) -> bool {
        finished.since(self.last_start) > curve.reset
    }

    /// Moves a delay that another curve gave to the nearest one within `curve`.
    fn within(self, curve: &Curve) -> Self {
        Self { delay: self.delay.max(curve.initial).min(curve.max), ..self }
    }
}

/// The newest exit of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When it ended, on the driver's clock.
    pub finished: Instant,
    /// Its exit code.
    pub code: i32,
}

/// Whether a container starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The container's policy and rules allow no restart.
    Never,
    /// The container may start.
    Start {
        /// Whether no entry was consulted: for the first start, the first restart, and the first one after a reset.
        free: bool,
    },
    /// The container is in back-off.
    Wait {
        /// When the container may start.
        due: Instant,
        /// The stored delay, which is what the kubelet's message shows.
        delay: Duration,
    },
}

/// The start decision, pure: whether the container runs again at all, then [`back_off`]. Rules count with this policy.
///
/// The node asks the two halves one after the other, because a sync also starts containers that no policy wants back:
/// in a new sandbox, with a new definition, when all of a pod's containers restart. Those wait like any other.
pub fn decide(
    exit: Option<Exit>,
    policy: RestartPolicy,
    rules: &[RestartRule],
    entry: Option<&Entry>,
    curve: &Curve,
    now: Instant,
) -> Decision {
    let Some(exit) = exit else {
        return Decision::Start { free: true };
    };
    if !(RestartSpec { pod: policy, own: Some(policy), rules }).after_exit(exit.code, true) {
        return Decision::Never;
    }
    back_off(exit.finished, entry, curve, now)
}

/// When a container that is to run again may do so, pure: now, or after the delay that its last start left behind.
/// This is the kubelet's `doBackOff`, which knows no policy; it never answers [`Decision::Never`].
pub fn back_off(finished: Instant, entry: Option<&Entry>, curve: &Curve, now: Instant) -> Decision {
    let delay = match entry.filter(|entry| !entry.ran_long(curve, finished)) {
        Some(entry) => entry.delay,
        None if curve.first_free => return Decision::Start { free: true },
        None => curve.initial,
    };
    // An exit in the future means that the clock stepped back; the wait is then one whole delay and no more.
    let due = finished.min(now) + delay;
    if now < due { Decision::Wait { due, delay } } else { Decision::Start { free: false } }
}

/// The entry that a start through the gate leaves behind. It is pure like the decision. `finished` is when the exit
/// before that start happened.
pub fn entry_after(entry: Option<&Entry>, curve: &Curve, finished: Instant, now: Instant) -> Entry {
    let new = |delay| Entry { delay, last_start: now, step: 1 };
    match entry.filter(|entry| !entry.ran_long(curve, finished)) {
        Some(entry) if entry.left_alone(curve, now) => new(curve.initial),
        Some(entry) => Entry { delay: curve.grown(entry.delay), last_start: now, step: entry.step.saturating_add(1) },
        None if curve.first_free => new(curve.initial),
        // This start has just paid the initial delay.
        None => new(curve.grown(curve.initial)),
    }
}

/// Notes a key, unless all count as touched; returns whether they do from now on. Who takes the changes may have to wait
/// for a disk for hours, while keys come and go.
fn note(touched: &mut BTreeSet<Box<str>>, key: &str, are_all: bool) -> bool {
    if are_all || touched.len() >= TOUCHED_MAX {
        touched.clear();
        return true;
    }
    touched.insert(key.into());
    false
}

/// Keys that are noted at most: more than change on a node within a second.
const TOUCHED_MAX: usize = 10_000;

/// Entries by key, under one curve unless a decision names another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Backoff {
    curve: Curve,
    entries: BTreeMap<Box<str>, Entry>,
    /// Keys whose entry has changed since [`Backoff::take_touched`]; none where nobody watches.
    touched: Option<BTreeSet<Box<str>>>,
    /// Whether more keys have changed than are noted, so that none of them is.
    #[serde(default)]
    is_all_touched: bool,
}

/// What has changed in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These keys, in order, with their entries; none for one that is gone.
    Keys(Vec<(Box<str>, Option<Entry>)>),
    /// So many keys that only [`Backoff::entries`] tells.
    All,
}

impl Backoff {
    /// An empty table.
    pub const fn new(curve: Curve) -> Self {
        Self { curve, entries: BTreeMap::new(), touched: None, is_all_touched: false }
    }

    /// Decides, and records a start that the decision allows. Records nothing for a container without an exit.
    pub fn decide(
        &mut self,
        key: &str,
        exit: Option<Exit>,
        policy: RestartPolicy,
        rules: &[RestartRule],
        now: Instant,
    ) -> Decision {
        let curve = self.curve;
        self.decide_under(&curve, key, exit, policy, rules, now)
    }

    /// Like `decide`, for a container that has a curve of its own.
    pub fn decide_under(
        &mut self,
        curve: &Curve,
        key: &str,
        exit: Option<Exit>,
        policy: RestartPolicy,
        rules: &[RestartRule],
        now: Instant,
    ) -> Decision {
        let entry = self.entry_within(key, curve);
        let decision = decide(exit, policy, rules, entry.as_ref(), curve, now);
        if let (Decision::Start { .. }, Some(exit)) = (decision, exit) {
            self.put(key, entry_after(entry.as_ref(), curve, exit.finished, now));
        }
        decision
    }

    /// [`back_off`] of a container that ended at `finished`, under this curve; records the start where it allows one.
    pub fn back_off(&mut self, curve: &Curve, key: &str, finished: Instant, now: Instant) -> Decision {
        let entry = self.entry_within(key, curve);
        let decision = back_off(finished, entry.as_ref(), curve, now);
        if let Decision::Start { .. } = decision {
            self.put(key, entry_after(entry.as_ref(), curve, finished, now));
        }
        decision
    }

    /// Until when a key waits after its last failure, and the delay; None once it may be tried again.
    ///
    /// Here a start stands for a failed try, as in the kubelet's image pulls (images/image_manager.go:pullImage, 1.36,
    /// which asks client-go's `IsInBackOffSinceUpdate` and records with `Next`, both with the time of the failure).
    pub fn retry_due(&self, key: &str, now: Instant) -> Option<(Instant, Duration)> {
        let entry = self.entries.get(key)?;
        match back_off(entry.last_start, Some(entry), &self.curve, now) {
            Decision::Wait { due, delay } => Some((due, delay)),
            Decision::Start { .. } | Decision::Never => None,
        }
    }

    /// Records that a try has just failed: see [`Backoff::retry_due`].
    pub fn note_failure(&mut self, key: &str, now: Instant) {
        self.put(key, entry_after(self.entries.get(key), &self.curve, now, now));
    }

    fn entry_within(&self, key: &str, curve: &Curve) -> Option<Entry> {
        self.entries.get(key).map(|entry| entry.within(curve))
    }

    fn put(&mut self, key: &str, entry: Entry) {
        if let Some(known) = self.entries.get_mut(key) {
            *known = entry;
        } else {
            self.entries.insert(key.into(), entry);
        }
        self.touch(key);
    }

    /// The curve of every container without one of its own.
    pub const fn curve(&self) -> &Curve {
        &self.curve
    }

    /// Records a start that no decision of the table led to, such as an operator's. The delay stays, and the length of
    /// the container's run counts from now.
    pub fn note_start(&mut self, key: &str, now: Instant) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.last_start = now;
            self.touch(key);
        }
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        #[cfg(test)]
        crate::visits::count(1);
        self.entries.get(key)
    }

    /// All entries, in order of their keys.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        #[cfg(test)]
        crate::visits::count(self.len());
        self.entries.iter().map(|(key, entry)| (&**key, entry))
    }

    /// Notes from now on which entries change.
    pub fn watch(&mut self) {
        self.touched.get_or_insert_default();
    }

    /// Whether an entry has changed since the changes were last taken.
    pub fn has_touched(&self) -> bool {
        self.is_all_touched || self.touched.as_ref().is_some_and(|touched| !touched.is_empty())
    }

    /// The entries that have changed since this was last asked.
    pub fn take_touched(&mut self) -> Touched {
        if std::mem::take(&mut self.is_all_touched) {
            return Touched::All;
        }
        let touched = self.touched.as_mut().map(std::mem::take).unwrap_or_default();
        let entry = |key: Box<str>| {
            let entry = self.entry(&key).copied();
            (key, entry)
        };
        Touched::Keys(touched.into_iter().map(entry).collect())
    }

    fn touch(&mut self, key: &str) {
        if let Some(touched) = self.touched.as_mut().filter(|touched| !touched.contains(key)) {
            self.is_all_touched |= note(touched, key, self.is_all_touched);
        }
    }

    /// Restores an entry of an earlier table; returns false if its last start is too long ago. The curve may have
    /// changed since, so the next decision fits the delay to it.
    pub fn restore(&mut self, key: &str, entry: Entry, now: Instant) -> bool {
        let entry = Entry { last_start: entry.last_start.min(now), ..entry };
        if entry.left_alone(&self.curve, now) {
            return false;
        }
        self.entries.insert(key.into(), entry);
        self.touch(key);
        true
    }

    /// Forgets a key; returns false if it had no entry.
    pub fn reset(&mut self, key: &str) -> bool {
        let had = self.entries.remove(key).is_some();
        if had {
            self.touch(key);
        }
        had
    }

    /// Drops the entries whose last start is longer ago than the curve's reset; returns how many.
    pub fn collect(&mut self, now: Instant) -> usize {
        let before = self.entries.len();
        let (touched, is_all_touched) = (&mut self.touched, &mut self.is_all_touched);
        self.entries.retain(|key, entry| {
            let is_kept = !entry.left_alone(&self.curve, now);
            if let Some(touched) = touched.as_mut().filter(|_| !is_kept) {
                *is_all_touched |= note(touched, key, *is_all_touched);
            }
            is_kept
        });
        before - self.entries.len()
    }

    /// How many keys have an entry.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no key has an entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn secs(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1_000)
    }

    fn curve(initial: u64, max: u64) -> Curve {
        Curve { initial: Duration::from_secs(initial), max: Duration::from_secs(max), ..Curve::default() }
    }

    /// Restart times and waits of a container that runs `run` seconds in each life, under an exact timer.
    fn lives(curve: Curve, run: u64, restarts: usize) -> (Vec<u64>, Vec<u64>) {
        let mut table = Backoff::new(curve);
        let (mut times, mut waits, mut started) = (Vec::new(), Vec::new(), 0_u64);
        while times.len() < restarts {
            let exit = Some(Exit { finished: secs(started + run), code: 1 });
            let mut now = started + run;
            if let Decision::Wait { due, .. } = table.decide("c", exit, RestartPolicy::Always, &[], secs(now)) {
                now = due.as_nanos() / 1_000_000_000;
                assert!(matches!(
                    table.decide("c", exit, RestartPolicy::Always, &[], secs(now)),
                    Decision::Start { free: false }
                ));
            }
            waits.push(now - started - run);
            times.push(now);
            started = now;
        }
        (times, waits)
    }

    #[test]
    fn the_shipped_curve_of_a_container_that_exits_at_once() {
        let (times, _) = lives(Curve::default(), 0, 10);
        assert_eq!(times, [0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510]);
    }

    #[test]
    fn the_reduced_curve() {
        assert_eq!(lives(curve(1, 60), 0, 10).0, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    }

    #[test]
    fn without_the_free_restart_the_first_exit_waits_and_a_long_run_begins_anew() {
        let delayed = Curve { first_free: false, ..Curve::default() };
        assert_eq!(lives(delayed, 0, 5).1, [10, 20, 40, 80, 160]);
        assert_eq!(lives(delayed, 601, 3).1, [10, 10, 10]);
    }

    #[test]
    fn a_factor_in_thousandths_is_exact() {
        let slow = Curve { factor_milli: 1_500, ..curve(2, 100) };
        let entry = |delay| Entry { delay, last_start: Instant::ZERO, step: 1 };
        let after = entry_after(Some(&entry(Duration::from_nanos(3))), &slow, Instant::ZERO, Instant::ZERO);
        assert_eq!(after.delay, Duration::from_nanos(4));
        let after = entry_after(Some(&entry(Duration::from_secs(80))), &slow, Instant::ZERO, Instant::ZERO);
        assert_eq!((after.delay, after.step), (Duration::from_secs(100), 2));
    }

    #[test]
    fn long_runs_reset_the_delay_again_and_again() {
        assert_eq!(lives(Curve::default(), 300, 8).1, [0, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(lives(Curve::default(), 301, 9).1, [0, 10, 20, 40, 80, 160, 300, 10, 20]);
        assert_eq!(lives(Curve::default(), 600, 5).1, [0, 10, 10, 10, 10]);
        assert_eq!(lives(Curve::default(), 601, 5).1, [0; 5]);
    }

    #[test]
    fn an_exit_in_the_future_waits_one_delay_and_no_more() {
        let mut table = Backoff::new(Curve::default());
        let exit = |second| Some(Exit { finished: secs(second), code: 1 });
        assert_eq!(table.decide("c", exit(1), RestartPolicy::Always, &[], secs(1)), Decision::Start { free: true });
        let wait = table.decide("c", exit(500), RestartPolicy::Always, &[], secs(2));
        assert_eq!(wait, Decision::Wait { due: secs(12), delay: Duration::from_secs(10) });
    }

    #[test]
    fn policy_and_rules_come_before_the_gate() {
        let mut table = Backoff::new(Curve::default());
        let exit = Some(Exit { finished: secs(0), code: 0 });
        assert_eq!(table.decide("c", exit, RestartPolicy::OnFailure, &[], secs(0)), Decision::Never);
        assert_eq!(table.decide("c", None, RestartPolicy::Never, &[], secs(0)), Decision::Start { free: true });
        assert!(table.is_empty());
    }

    #[test]
    fn back_off_alone_asks_no_policy() {
        let (mut table, curve) = (Backoff::new(Curve::default()), Curve::default());
        assert_eq!(table.back_off(&curve, "c", secs(0), secs(0)), Decision::Start { free: true });
        let wait = Decision::Wait { due: secs(11), delay: Duration::from_secs(10) };
        assert_eq!(table.back_off(&curve, "c", secs(1), secs(1)), wait);
        assert_eq!(table.back_off(&curve, "c", secs(1), secs(11)), Decision::Start { free: false });
    }

    #[test]
    fn a_failure_waits_from_its_own_time_and_doubles_until_it_is_left_alone() {
        let mut table = Backoff::new(Curve::default());
        let due = |table: &Backoff, now| table.retry_due("i", secs(now)).map(|(due, _)| due);
        assert_eq!(due(&table, 0), None);
        for (failed, delay) in [(0, 10), (10, 20), (100, 40), (200, 80), (700, 160), (1_300, 300), (1_901, 10)] {
            table.note_failure("i", secs(failed));
            assert_eq!(table.retry_due("i", secs(failed)), Some((secs(failed + delay), Duration::from_secs(delay))));
            assert_eq!(due(&table, failed + delay - 1), Some(secs(failed + delay)));
            assert_eq!(due(&table, failed + delay), None);
        }
    }

    #[test]
    fn a_million_starts_stay_at_the_longest_delay() {
        let curve = Curve::default();
        let exit = secs(1);
        let mut entry = entry_after(None, &curve, exit, exit);
        for _ in 0..1_000_000 {
            entry = entry_after(Some(&entry), &curve, exit, exit);
        }
        assert_eq!(entry, Entry { delay: Duration::from_secs(300), last_start: exit, step: 1_000_001 });
        let full = Entry { step: u32::MAX, ..entry };
        assert_eq!(entry_after(Some(&full), &curve, exit, exit), full);
    }

    #[test]
    fn a_start_from_outside_the_table_keeps_the_delay_and_counts_the_run_anew() {
        let mut table = Backoff::new(Curve::default());
        let exit = |second| Some(Exit { finished: secs(second), code: 1 });
        table.decide("c", exit(0), RestartPolicy::Always, &[], secs(0));
        table.note_start("c", secs(500));
        table.note_start("other", secs(500));
        assert_eq!(table.len(), 1);
        let wait = table.decide("c", exit(1_100), RestartPolicy::Always, &[], secs(1_100));
        assert_eq!(wait, Decision::Wait { due: secs(1_110), delay: Duration::from_secs(10) });
        assert_eq!(
            table.decide("c", exit(1_101), RestartPolicy::Always, &[], secs(1_101)),
            Decision::Start { free: true }
        );
    }

    #[test]
    fn keys_without_a_start_for_longer_than_the_reset_are_collected() {
        let mut table = Backoff::new(Curve::default());
        let exit = Some(Exit { finished: secs(0), code: 1 });
        table.decide("c", exit, RestartPolicy::Always, &[], secs(0));
        assert_eq!(table.collect(secs(600)), 0);
        assert_eq!(table.collect(secs(601)), 1);
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_delay_kept_under_another_curve_is_clamped_into_this_one() {
        let exit = Some(Exit { finished: secs(4), code: 1 });
        for (kept, waited, next) in [(300, 60, 60), (40, 40, 60), (1, 10, 20)] {
            let mut table = Backoff::new(curve(10, 60));
            let entry = Entry { delay: Duration::from_secs(kept), last_start: secs(0), step: 6 };
            assert!(table.restore("c", entry, secs(5)));
            let wait = table.decide("c", exit, RestartPolicy::Always, &[], secs(5));
            assert_eq!(wait, Decision::Wait { due: secs(4 + waited), delay: Duration::from_secs(waited) });
            table.decide("c", exit, RestartPolicy::Always, &[], secs(4 + waited));
            let after = Entry { delay: Duration::from_secs(next), last_start: secs(4 + waited), step: 7 };
            assert_eq!(table.entry("c"), Some(&after));
        }
    }

    #[test]
    fn a_delay_under_a_containers_own_curve_stays_unchanged() {
        let own = curve(2, 900);
        let mut table = Backoff::new(curve(10, 60));
        let entry = Entry { delay: Duration::from_secs(500), last_start: secs(0), step: 9 };
        assert!(table.restore("c", entry, secs(5)));
        let exit = Some(Exit { finished: secs(4), code: 1 });
        let wait = table.decide_under(&own, "c", exit, RestartPolicy::Always, &[], secs(5));
        assert_eq!(wait, Decision::Wait { due: secs(504), delay: Duration::from_secs(500) });
        table.decide_under(&own, "c", exit, RestartPolicy::Always, &[], secs(504));
        assert_eq!(table.entry("c").map(|entry| entry.delay), Some(Duration::from_secs(900)));
    }

    #[test]
    fn an_entry_left_alone_for_too_long_is_not_restored() {
        let mut table = Backoff::new(Curve::default());
        let entry = Entry { delay: Duration::from_secs(10), last_start: secs(0), step: 1 };
        assert!(!table.restore("c", entry, secs(601)));
        assert!(table.restore("c", entry, secs(600)));
        let ahead = Entry { last_start: secs(900), ..entry };
        table.restore("c", ahead, secs(600));
        assert_eq!(table.entry("c").map(|entry| entry.last_start), Some(secs(600)), "the wall clock was set back");
    }

    #[test]
    fn what_has_changed_is_found_without_a_look_at_the_rest() {
        let mut table = Backoff::new(Curve::default());
        let exit = Some(Exit { finished: secs(0), code: 1 });
        let restart = |table: &mut Backoff, key: &str, second| {
            let decision = table.decide(key, exit, RestartPolicy::Always, &[], secs(second));
            assert!(matches!(decision, Decision::Start { .. }));
        };
        (0..10_000).for_each(|number| restart(&mut table, &format!("c{number}"), 0));
        assert!(!table.has_touched(), "nobody watches yet");
        table.watch();
        ["c7", "c8", "c9"].iter().for_each(|key| restart(&mut table, key, 100));
        table.note_start("c10", secs(100));
        assert!(table.reset("c8"));
        assert!(!table.reset("no such key"));
        crate::visits::reset();
        let Touched::Keys(touched) = table.take_touched() else { panic!("four keys") };
        assert_eq!(crate::visits::counted(), 4);
        let shown: Vec<_> = touched.iter().map(|(key, entry)| (&**key, entry.is_some())).collect();
        assert_eq!(shown, [("c10", true), ("c7", true), ("c8", false), ("c9", true)]);
        assert!(!table.has_touched());
        assert_eq!(table.collect(secs(10_000)), 9_999);
        assert!(matches!(table.take_touched(), Touched::Keys(keys) if keys.len() == 9_999));
    }

    #[test]
    fn keys_that_come_and_go_while_nobody_takes_them_cost_no_more_than_a_limit() {
        let mut table = Backoff::new(Curve::default());
        table.watch();
        let exit = Some(Exit { finished: secs(0), code: 1 });
        for number in 0..3 * TOUCHED_MAX {
            table.decide(&format!("c{number}"), exit, RestartPolicy::Always, &[], secs(0));
            assert!(table.touched.as_ref().unwrap().len() <= TOUCHED_MAX);
        }
        assert_eq!(table.collect(secs(10_000)), 3 * TOUCHED_MAX);
        assert!(table.has_touched() && table.touched.as_ref().unwrap().is_empty());
        assert_eq!(table.take_touched(), Touched::All);
        assert!(!table.has_touched());
        table.decide("c", exit, RestartPolicy::Always, &[], secs(20_000));
        assert!(matches!(table.take_touched(), Touched::Keys(keys) if keys.len() == 1));
    }

    proptest! {
        /// Closed form of an instantly crashing container: wait n is 0 for the first, then initial * 2^(n-2), capped.
        #[test]
        fn waits_follow_the_closed_form(initial in 1..20_u64, max in 1..400_u64, restarts in 1..40_usize) {
            let (initial, max) = (initial.min(max), max);
            let (_, waits) = lives(curve(initial, max), 0, restarts);
            for (index, wait) in waits.into_iter().enumerate() {
                let expected = if index == 0 { 0 } else { (u128::from(initial) << (index - 1)).min(max.into()) };
                prop_assert_eq!(u128::from(wait), expected);
            }
        }
    }
}
