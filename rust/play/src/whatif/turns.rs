//! The attempts of a pod that say something new, for what looks for incidents among the pods of a recording.

use probelet_core::spec::ProbeType;
use serde_json::{Value, json};

use super::document::Clock;
use crate::history::is_turn;
use crate::recording::{Attempt, Input, PodLog, Stretch};

/// The turns of a pod of a stretch, and when the pod began to end, as JSON.
pub fn turned(stretch: &Stretch, log: &PodLog) -> Value {
    let clock = Clock::of(stretch);
    let turn = |(container, probe_type, it): (&str, ProbeType, &Attempt)| {
        json!({
            "container": container, "type": probe_type.name(), "at_us": clock.unix(it.ended_us),
            "is_good": it.end.is_success(), "cause": it.cause.name(),
            "late_us": it.began_us.saturating_sub(it.scheduled_us),
        })
    };
    json!({
        "turns": turns(log).into_iter().map(turn).collect::<Vec<_>>(),
        "gone_us": gone_us(log).map(|at| clock.unix(at)),
    })
}

/// The first attempt of each worker, and the attempts that a live engine takes for turns, in the order of their ends.
fn turns(log: &PodLog) -> Vec<(&str, ProbeType, &Attempt)> {
    let mut found = Vec::new();
    for ((container, probe_type), attempts) in &log.attempts {
        let (mut worker, mut bad) = (None, 0);
        for attempt in attempts {
            let is_first = worker.replace(attempt.worker) != Some(attempt.worker);
            let is_good = attempt.end.is_success();
            if is_first || is_turn(bad, is_good) {
                found.push((&**container, *probe_type, attempt));
            }
            bad = if is_good { 0 } else { bad + 1 };
        }
    }
    found.sort_by_key(|(_, _, attempt)| attempt.ended_us);
    found
}

/// When the pod's owner began to end it, or forgot it.
fn gone_us(log: &PodLog) -> Option<u64> {
    let ends = |input: &Input| {
        matches!(input, Input::SyncTerminating(_) | Input::SyncTerminated(_) | Input::Remove | Input::Forget)
    };
    log.inputs.iter().find(|told| ends(&told.input)).map(|told| told.at_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Cause;
    use crate::history::TURNS_OF_A_RUN;
    use crate::recording::{End, Told};

    fn log(ends: &[(u32, End)]) -> PodLog {
        let attempt = |(number, &(worker, end)): (usize, &(u32, End))| {
            let at_us = number as u64;
            Attempt { worker, end, cause: Cause::Ok, scheduled_us: at_us, began_us: at_us, ended_us: at_us }
        };
        let attempts = ends.iter().enumerate().map(attempt).collect();
        PodLog { attempts: [(("app".into(), ProbeType::Liveness), attempts)].into(), ..PodLog::default() }
    }

    fn moments(ends: &[(u32, End)]) -> Vec<u64> {
        turns(&log(ends)).iter().map(|(_, _, attempt)| attempt.ended_us).collect()
    }

    #[test]
    fn the_first_attempt_of_a_worker_and_each_change_are_turns() {
        let (good, bad) = (End::Success, End::Failure);
        let ends = [(1, good), (1, good), (1, bad), (1, bad), (1, good), (1, good), (2, good), (2, End::Warning)];
        assert_eq!(moments(&ends), [0, 2, 3, 4, 6]);
    }

    #[test]
    fn a_long_run_of_bad_attempts_says_nothing_new() {
        let ends = vec![(1, End::Failure); TURNS_OF_A_RUN + 5];
        assert_eq!(moments(&ends).len(), TURNS_OF_A_RUN);
    }

    #[test]
    fn a_pod_is_gone_with_the_first_call_that_ends_it() {
        let told = |at_us, input| Told { at_us, turned_us: at_us, input };
        let inputs = vec![told(1, Input::Add), told(5, Input::Remove), told(9, Input::Forget)];
        assert_eq!(gone_us(&PodLog { inputs, ..PodLog::default() }), Some(5));
        assert_eq!(gone_us(&PodLog::default()), None);
    }
}
