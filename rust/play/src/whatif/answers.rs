//! What a container would have answered at a moment, from its recorded attempts.
//!
//! The first rule that applies gives the answer:
//!
//! 1. An attempt that was due within [`SAME`] of that moment and answered no other attempt of this play: it is the same
//!    attempt, with its own beginning and end.
//! 2. Within a timeout of the end of the recording: none. It would be under way at the end, as real attempts are.
//! 3. After the verdict that really killed the container: unknown. The container may have recovered or not.
//! 4. The latest attempt of this container and type that was due before: the container would have answered as it did
//!    then, and after the same time.
//! 5. Otherwise unknown: it was never asked.
//!
//! The timeout cuts an answer: with a shorter one than was recorded, an attempt that took longer fails when its time is
//! over. An attempt that ran into its timeout says nothing about what would have come after it: with a longer timeout the
//! answer is unknown, and comes not before the old one.

use std::time::Duration;

use probelet_core::spec::ProbeType;

use crate::cause::Cause;
use crate::recording::{Attempt, End};

/// How a play answers what is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The container is well.
    Healthy,
    /// The container fails.
    Failing,
}

/// How the attempts of a play were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By an attempt that was really made at that moment.
    pub recorded: u64,
    /// As the latest attempt before.
    pub carried: u64,
    /// By the assumption.
    pub unknown: u64,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) ends_us: u64,
    pub(super) end: End,
    pub(super) cause: Cause,
}

/// A question: which container, when, and with which timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) container: &'a str,
    pub(super) probe_type: ProbeType,
    pub(super) now_us: u64,
    /// When the run was due on its worker's grid: before now, if the attempt before took longer than a period.
    pub(super) scheduled_us: u64,
    /// `timeoutSeconds` of the play.
    pub(super) timeout_seconds: i32,
    /// From when on the attempts are those of this container.
    pub(super) since_us: u64,
    /// Until when they are; None while it has not ended.
    pub(super) ended_us: Option<u64>,
    /// Until when they say how it is: the verdict that really killed the container.
    pub(super) until_us: Option<u64>,
    /// The end of the recording.
    pub(super) end_us: u64,
}

impl Question<'_> {
    /// Whether an attempt asked the same container.
    fn is_about(&self, attempt: &Attempt) -> bool {
        attempt.began_us >= self.since_us && self.ended_us.is_none_or(|ended| attempt.scheduled_us <= ended)
    }
}

/// The recorded attempts of a pod.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    recorded: Vec<Recorded<'a>>,
    assumption: Assumption,
    /// How attempts were answered so far.
    pub counts: Counts,
}

#[derive(Clone, Debug)]
struct Recorded<'a> {
    container: &'a str,
    probe_type: ProbeType,
    attempts: &'a [Attempt],
    /// `timeoutSeconds` when they were made.
    timeout_seconds: i32,
    /// The first attempt that has not answered one of the play.
    next: usize,
}

impl<'a> Answers<'a> {
    pub(super) fn new(
        attempts: impl IntoIterator<Item = ((&'a str, ProbeType), &'a [Attempt], i32)>,
        assumption: Assumption,
    ) -> Self {
        let recorded = attempts.into_iter().map(|((container, probe_type), attempts, timeout_seconds)| Recorded {
            container,
            probe_type,
            attempts,
            timeout_seconds,
            next: 0,
        });
        Self { recorded: recorded.collect(), assumption, counts: Counts::default() }
    }

    /// The answer to a question. Questions about one probe come in the order of their times.
    pub(super) fn ask(&mut self, question: Question<'_>) -> Answer {
        let timeout = micros(question.timeout_seconds);
        let is_its =
            |it: &&mut Recorded<'_>| (it.container, it.probe_type) == (question.container, question.probe_type);
        let Some(recorded) = self.recorded.iter_mut().find(is_its) else {
            return self.assumed(question.now_us, UNKNOWN_US, timeout);
        };
        let was = micros(recorded.timeout_seconds);
        let is_real = question.now_us.saturating_add(was) < question.end_us;
        if let Some(same) = recorded.same(&question) {
            return match cut(&same, was, timeout) {
                Some(end) => self.answered(same.began_us, end, same.cause, true),
                None => self.assumed(same.began_us, was, timeout),
            };
        }
        if !is_real {
            return Answer { ends_us: u64::MAX, end: End::Unknown, cause: Cause::Ok };
        }
        let Some(before) = recorded.before(&question) else {
            return self.assumed(question.now_us, UNKNOWN_US, timeout);
        };
        match cut(&before, was, timeout) {
            None => self.assumed(question.now_us, was, timeout),
            Some((took, end)) if question.until_us.is_some_and(|until| until <= question.now_us) => {
                // It answers again as fast as it ever does, or goes on failing as it did.
                let fails = if end.is_success() { timeout } else { took };
                self.assumed(question.now_us, UNKNOWN_US, fails)
            }
            Some(end) => self.answered(question.now_us, end, before.cause, false),
        }
    }

    fn answered(&mut self, began_us: u64, (took, end): (u64, End), cause: Cause, is_recorded: bool) -> Answer {
        *(if is_recorded { &mut self.counts.recorded } else { &mut self.counts.carried }) += 1;
        Answer { ends_us: began_us.saturating_add(took), end, cause }
    }

    /// The answer that nobody knows: a success after `succeeds` or a failure after `fails`, in microseconds.
    fn assumed(&mut self, began_us: u64, succeeds: u64, fails: u64) -> Answer {
        self.counts.unknown += 1;
        let (took, end) = match self.assumption {
            Assumption::Healthy => (succeeds, End::Success),
            Assumption::Failing => (fails, End::Failure),
        };
        Answer { ends_us: began_us.saturating_add(took), end, cause: Cause::Ok }
    }
}

impl Recorded<'_> {
    /// The attempt that is the one asked for.
    fn same(&mut self, question: &Question<'_>) -> Option<Attempt> {
        let rest = &self.attempts[self.next..];
        let [earliest, latest] =
            [question.scheduled_us.saturating_sub(SAME_US), question.scheduled_us.saturating_add(SAME_US)];
        let from = rest.partition_point(|attempt| attempt.scheduled_us < earliest);
        let near = rest[from..].iter().take_while(|attempt| attempt.scheduled_us <= latest).enumerate();
        let mine = near.filter(|(_, attempt)| question.is_about(attempt));
        let (place, found) = mine.min_by_key(|(_, attempt)| attempt.scheduled_us.abs_diff(question.scheduled_us))?;
        self.next += from + place + 1;
        Some(*found)
    }

    /// The latest attempt of this container before.
    fn before(&self, question: &Question<'_>) -> Option<Attempt> {
        let now_us = question.ended_us.map_or(question.now_us, |ended| ended.min(question.now_us));
        let end = self.attempts.partition_point(|attempt| attempt.scheduled_us <= now_us);
        self.attempts[..end].last().filter(|attempt| question.is_about(attempt)).copied()
    }
}

fn took(attempt: Attempt) -> u64 {
    attempt.ended_us.saturating_sub(attempt.began_us)
}

/// How an attempt would have ended under another timeout, and after which time; None if only the old one's end is known.
fn cut(attempt: &Attempt, was: u64, timeout: u64) -> Option<(u64, End)> {
    let took = took(*attempt);
    let has_timed_out = !attempt.end.is_success() && took >= was;
    if timeout > was && has_timed_out {
        return None;
    }
    if timeout < was && took > timeout {
        return Some((timeout, End::Failure));
    }
    Some((took, attempt.end))
}

fn micros(seconds: i32) -> u64 {
    u64::try_from(seconds).unwrap_or(0) * 1_000_000
}

/// An attempt that was due within this of the moment that a play asks at is the same attempt.
pub(super) const SAME: Duration = Duration::from_millis(100);
const SAME_US: u64 = SAME.as_micros() as u64;

/// How long an answer takes of which nothing at all is known: a millisecond.
const UNKNOWN_US: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(second: u64, took_ms: u64, end: End) -> Attempt {
        let scheduled_us = second * 1_000_000;
        let began_us = scheduled_us + 500;
        Attempt { worker: 0, end, cause: Cause::Ok, scheduled_us, began_us, ended_us: began_us + took_ms * 1_000 }
    }

    /// Attempts every ten seconds with a timeout of two: fine, slow, a timeout, an error page.
    const fn recorded() -> [(u64, u64, End); 4] {
        [(10, 5, End::Success), (20, 1_500, End::Success), (30, 2_000, End::Failure), (40, 5, End::Failure)]
    }

    fn ask(at_ms: u64, timeout_seconds: i32, assumption: Assumption) -> (u64, End, Counts) {
        let attempts = recorded().map(|(second, took, end)| attempt(second, took, end));
        let mut answers = Answers::new([(("app", ProbeType::Liveness), &attempts[..], 2)], assumption);
        let answer = answers.ask(Question {
            container: "app",
            probe_type: ProbeType::Liveness,
            now_us: at_ms * 1_000,
            scheduled_us: at_ms * 1_000,
            timeout_seconds,
            since_us: 0,
            ended_us: None,
            until_us: Some(60_000_000),
            end_us: 90_000_000,
        });
        (answer.ends_us, answer.end, answers.counts)
    }

    const RECORDED: Counts = Counts { recorded: 1, carried: 0, unknown: 0 };
    const CARRIED: Counts = Counts { recorded: 0, carried: 1, unknown: 0 };
    const UNKNOWN: Counts = Counts { recorded: 0, carried: 0, unknown: 1 };

    #[test]
    fn an_attempt_of_that_moment_is_the_answer_with_its_own_end() {
        use Assumption::{Failing, Healthy};
        for assumption in [Healthy, Failing] {
            assert_eq!(ask(10_000, 2, assumption), (10_005_500, End::Success, RECORDED));
            assert_eq!(ask(9_950, 2, assumption), (10_005_500, End::Success, RECORDED));
            assert_eq!(ask(30_000, 2, assumption), (32_000_500, End::Failure, RECORDED));
        }
    }

    #[test]
    fn between_two_attempts_the_container_is_as_the_earlier_one_found_it() {
        assert_eq!(ask(25_000, 2, Assumption::Failing), (26_500_000, End::Success, CARRIED));
        assert_eq!(ask(45_000, 2, Assumption::Healthy), (45_005_000, End::Failure, CARRIED));
    }

    #[test]
    fn a_shorter_timeout_cuts_an_attempt_that_took_longer() {
        assert_eq!(ask(20_000, 1, Assumption::Healthy), (21_000_500, End::Failure, RECORDED));
        assert_eq!(ask(10_000, 1, Assumption::Healthy), (10_005_500, End::Success, RECORDED));
        assert_eq!(ask(30_000, 1, Assumption::Healthy), (31_000_500, End::Failure, RECORDED));
    }

    #[test]
    fn what_comes_after_a_timeout_is_unknown_and_not_sooner() {
        assert_eq!(ask(30_000, 5, Assumption::Healthy), (32_000_500, End::Success, UNKNOWN));
        assert_eq!(ask(30_000, 5, Assumption::Failing), (35_000_500, End::Failure, UNKNOWN));
        assert_eq!(ask(40_000, 5, Assumption::Healthy), (40_005_500, End::Failure, RECORDED), "it had answered");
    }

    #[test]
    fn before_the_first_attempt_and_after_the_end_nothing_is_known() {
        assert_eq!(ask(5_000, 2, Assumption::Failing), (7_000_000, End::Failure, UNKNOWN));
        assert_eq!(ask(5_000, 2, Assumption::Healthy), (5_001_000, End::Success, UNKNOWN));
        assert_eq!(ask(61_000, 2, Assumption::Healthy), (61_001_000, End::Success, UNKNOWN));
        assert_eq!(ask(61_000, 2, Assumption::Failing), (61_005_000, End::Failure, UNKNOWN), "as fast as it failed");
        assert_eq!(ask(88_001, 2, Assumption::Healthy), (u64::MAX, End::Unknown, Counts::default()), "still under way");
    }
}
