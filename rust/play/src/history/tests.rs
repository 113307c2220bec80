use std::time::Duration;

use proptest::prelude::*;

use super::code::SINCE_MS_MAX;
use super::*;
use crate::cause::Cause;

const NOW_MS: i64 = 1_700_000_000_000;

fn attempt() -> impl Strategy<Value = (i64, PastAttempt)> {
    // From retries within a run to pauses of hours.
    let since_ms = prop_oneof![0..100_i64, 900..11_000_i64, 0..30_000_000_i64];
    let micros = || prop_oneof![0..1_000_u64, 0..2_000_000_u64, 0..7_000_000_000_u64].prop_map(Duration::from_micros);
    (since_ms, 0..4_usize, 0..Cause::ALL.len(), micros(), micros()).prop_map(
        |(since_ms, kind, cause, duration, lateness)| {
            let (outcome, cause) = (OutcomeKind::ALL[kind], Cause::ALL[cause]);
            (since_ms, PastAttempt { at_ms: 0, outcome, cause, duration, lateness })
        },
    )
}

/// A life of a worker, with the time since the attempt before each attempt.
fn life() -> impl Strategy<Value = Vec<(i64, PastAttempt)>> {
    prop::collection::vec(attempt(), 0..200).prop_map(|mut life| {
        let mut at_ms = NOW_MS;
        for (since_ms, attempt) in &mut life {
            at_ms += *since_ms;
            attempt.at_ms = at_ms;
        }
        life
    })
}

fn told(life: &[(i64, PastAttempt)]) -> History {
    let mut history = History::default();
    for (number, (_, attempt)) in life.iter().enumerate() {
        history.add(attempt, &number.to_string());
    }
    history
}

fn is_within(found: Duration, true_length: Duration, parts: u32) -> bool {
    found.abs_diff(true_length) * parts <= true_length
}

proptest! {
    #[test]
    fn the_last_attempts_come_back_within_the_precision(life in life()) {
        let found = told(&life).attempts(ATTEMPTS);
        let last = &life[life.len().saturating_sub(ATTEMPTS)..];
        prop_assert_eq!(found.len(), last.len());
        let mut before_early_ms = if life.len() > ATTEMPTS { SINCE_MS_MAX / 64 } else { 0 };
        for (found, (since_ms, attempt)) in found.iter().zip(last) {
            prop_assert_eq!((found.outcome, found.cause), (attempt.outcome, attempt.cause));
            prop_assert!(is_within(found.duration, attempt.duration, 16), "{found:?} {attempt:?}");
            prop_assert!(is_within(found.lateness, attempt.lateness, 8), "{found:?} {attempt:?}");
            let early_ms = attempt.at_ms - found.at_ms;
            prop_assert!((0..=16 + (since_ms + before_early_ms) / 64).contains(&early_ms), "{early_ms} {since_ms}");
            before_early_ms = early_ms;
        }
    }

    #[test]
    fn the_last_failures_come_back_as_they_were(life in life()) {
        let history = told(&life);
        let failures: Vec<_> = life.iter().enumerate().filter(|(_, (_, attempt))| !attempt.outcome.is_good()).collect();
        let last = &failures[failures.len().saturating_sub(FAILURES)..];
        prop_assert_eq!(history.failures().len(), last.len());
        for (found, (number, (_, attempt))) in history.failures().iter().zip(last) {
            prop_assert_eq!((&found.attempt, &*found.text), (attempt, &*number.to_string()));
        }
    }

    #[test]
    fn a_history_that_is_written_in_parts_is_the_whole_one(life in life(), borders in prop::collection::vec(0..200_usize, 0..9)) {
        let (mut history, mut written, mut is_whole) = (History::default(), HistoryRecord::default(), true);
        for (number, (_, attempt)) in life.iter().enumerate() {
            history.add(attempt, &number.to_string());
            if borders.contains(&number) && let Some(part) = history.take_unwritten(ATTEMPTS) {
                is_whole &= part.len() < ATTEMPTS;
                let bytes = postcard::to_stdvec(&part).expect("plain data");
                written.extend(&postcard::from_bytes(&bytes).expect("what was written"));
            }
        }
        if let Some(part) = history.take_unwritten(ATTEMPTS) {
            is_whole &= part.len() < ATTEMPTS;
            written.extend(&part);
        }
        prop_assert_eq!(history.take_unwritten(ATTEMPTS), None);
        let again = History::of(&written);
        prop_assert!(again.failures() == history.failures());
        // Attempts that were never written leave a gap, whose length is as imprecise as that of any other.
        let timed = |attempt: PastAttempt| PastAttempt { at_ms: if is_whole { attempt.at_ms } else { 0 }, ..attempt };
        let timed = |history: &History| history.attempts(ATTEMPTS).into_iter().map(timed).collect::<Vec<_>>();
        prop_assert_eq!(timed(&again), timed(&history));
    }
}

fn good(at_ms: i64) -> PastAttempt {
    let (duration, lateness) = (Duration::from_millis(1), Duration::ZERO);
    PastAttempt { at_ms, outcome: OutcomeKind::Success, cause: Cause::Ok, duration, lateness }
}

fn bad(at_ms: i64) -> PastAttempt {
    PastAttempt { outcome: OutcomeKind::Failure, cause: Cause::Status, ..good(at_ms) }
}

#[test]
fn a_turn_is_a_good_attempt_after_a_bad_one_or_one_of_the_first_bad_ones() {
    let mut history = History::default();
    let turns = [good(0), good(1), bad(2), bad(3), good(4), good(5), bad(6)].map(|attempt| history.add(&attempt, ""));
    assert_eq!(turns, [false, false, true, true, true, false, true]);
    assert!(History::default().add(&bad(0), "a first attempt"));
    assert!(!History::default().add(&good(0), "a first attempt"));
}

#[test]
fn a_run_of_bad_attempts_turns_a_few_times_also_over_a_restart() {
    let mut history = History::default();
    let turns = |history: &mut History| (0..100).filter(|at_ms| history.add(&bad(*at_ms), "")).count();
    assert_eq!(turns(&mut history), TURNS_OF_A_RUN);
    let mut recalled = History::of(&history.take_all());
    assert_eq!(turns(&mut recalled), 0, "the run goes on");
    assert!(recalled.add(&good(200), ""));
    assert_eq!(turns(&mut recalled), TURNS_OF_A_RUN);
}

#[test]
fn a_wall_clock_that_is_set_moves_the_earlier_attempts_with_it() {
    let times = |ends: [i64; 3]| {
        let mut history = History::default();
        ends.into_iter().for_each(|at_ms| _ = history.add(&good(at_ms), ""));
        history.attempts(ATTEMPTS).into_iter().map(|attempt| attempt.at_ms - ends[2]).collect::<Vec<_>>()
    };
    let back_ms = NOW_MS - 3_600_000;
    assert_eq!(times([NOW_MS, NOW_MS + 1_024, back_ms]), [-1_024, 0, 0]);
    let days = NOW_MS + 100 * 86_400_000;
    assert_eq!(times([NOW_MS, NOW_MS + 1_024, days]), [-SINCE_MS_MAX - 1_024, -SINCE_MS_MAX, 0]);
    assert_eq!(times([i64::MIN, i64::MAX, i64::MIN]).len(), 3);
}

#[test]
fn the_part_for_a_write_is_no_longer_than_asked_for() {
    let mut history = told(&[(0, good(NOW_MS)); 100]);
    assert_eq!(history.take_unwritten(24).map(|part| part.len()), Some(24));
    assert_eq!(history.take_unwritten(24), None);
    assert_eq!(history.len(), ATTEMPTS);
}

#[test]
fn a_text_ends_between_two_characters() {
    assert_eq!(&*shown(b"short"), "short");
    assert_eq!(&*shown(&[0xff]), "\u{fffd}");
    for before in 0..4 {
        let text = format!("{}{}", "a".repeat(before), "\u{1f600}".repeat(TEXT_BYTES_MAX));
        let found = shown(text.as_bytes());
        assert!(text.starts_with(&*found) && found.len() > TEXT_BYTES_MAX - 4 && found.len() <= TEXT_BYTES_MAX);
    }
    assert!(shown(&[0xff; 1_000]).len() <= TEXT_BYTES_MAX);
}

#[test]
fn the_slowest_answer_is_that_of_a_whole_history_without_what_the_prober_is_to_blame_for() {
    let mut history = History::default();
    let took = |attempt: PastAttempt, millis| PastAttempt { duration: Duration::from_millis(millis), ..attempt };
    history.add(&took(good(0), 5_000), "");
    for at_ms in 1..ATTEMPTS as i64 {
        assert_eq!(history.slowest_answer(), None, "{at_ms}");
        history.add(&took(good(at_ms), 3), "");
    }
    let is_near = |history: &History, millis| {
        let found = history.slowest_answer().expect("a whole history");
        assert!(is_within(found, Duration::from_millis(millis), 16), "{found:?}");
    };
    is_near(&history, 5_000);
    history.add(&took(bad(64), 1_000), "no answer in time");
    is_near(&history, 1_000);
    history.add(&PastAttempt { outcome: OutcomeKind::Error, ..took(bad(65), 2_000) }, "starved");
    history.add(&PastAttempt { lateness: Duration::from_millis(120), ..took(good(66), 3_000) }, "");
    is_near(&history, 1_000);
    for at_ms in 67..200 {
        history.add(&PastAttempt { outcome: OutcomeKind::Error, ..bad(at_ms) }, "");
    }
    assert_eq!(history.slowest_answer(), None);
}

#[test]
fn bytes_that_no_attempt_has_are_refused() {
    let no_cause = (0_i64, vec![[0xff_u8; 4]], Vec::<u8>::new());
    let bytes = postcard::to_stdvec(&no_cause).expect("plain data");
    assert!(postcard::from_bytes::<HistoryRecord>(&bytes).is_err());
}

#[test]
fn the_beats_name_each_kind_of_attempt() {
    let mut history = History::default();
    let kinds = [(OutcomeKind::Success, 80), (OutcomeKind::Success, 120), (OutcomeKind::Warning, 0)];
    for (outcome, late_ms) in kinds.into_iter().chain([(OutcomeKind::Failure, 0), (OutcomeKind::Error, 120)]) {
        let (duration, lateness) = (Duration::from_millis(1), Duration::from_millis(late_ms));
        history.add(&PastAttempt { at_ms: NOW_MS, outcome, cause: Cause::ALL[0], duration, lateness }, "");
    }
    assert_eq!(history.beats(), ".~w!?");
}
