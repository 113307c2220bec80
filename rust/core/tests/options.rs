//! The opt-ins of a probe: failures in a window, and prober errors that count.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::options::{FailureWindow, ProbeOptions, WINDOW_MAX};
use probelet_core::prober::{Memory, Outcome, Output, Prober};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;
use proptest::prelude::*;

use crate::single::{UID, failure, pod, running, settings};

/// A container that has started, with one probe. The test gives it answer by answer.
struct Life {
    pod: Arc<PodSpec>,
    prober: Prober,
    now: Instant,
    /// What was published so far, but for the value that a container begins with.
    published: Vec<ProbeResult>,
    streaks: Vec<Option<(i32, i32)>>,
}

impl Life {
    fn new(probe_type: ProbeType, probe: ProbeSpec) -> Self {
        let pod = pod([(probe_type, probe)]);
        let now = Instant::from_millis(1_000_000);
        let mut life = Self { pod, prober: Prober::new(settings(), now), now, published: vec![], streaks: vec![] };
        life.take_up("c://1");
        life
    }

    fn take_up(&mut self, id: &str) {
        let mut status = running(id, self.now);
        status.containers[0].started = Some(true);
        self.prober.define_pod(Arc::clone(&self.pod));
        self.prober.set_pod_status(UID, status);
        self.prober.add_pod(UID);
    }

    /// Lets another prober go on, with what this one knew.
    fn succeed(&mut self) {
        let memories: Vec<Memory> = self.prober.memories().collect();
        self.prober = Prober::new(settings(), self.now);
        memories.into_iter().for_each(|memory| self.prober.recall(memory));
        self.take_up("c://1");
    }

    /// Plays answers, one run each: `S` and `F`, `E` for a prober error, `O` for one of the prober's own making.
    fn play(&mut self, answers: &str) -> &mut Self {
        answers.chars().for_each(|answer| self.answer(answer));
        self
    }

    fn answer(&mut self, answer: char) {
        let mut begun = false;
        for _ in 0..PATIENCE {
            self.prober.settle(self.now);
            while let Some(output) = self.prober.poll_output() {
                match output {
                    Output::Attempt(attempt) => {
                        begun = true;
                        self.prober.handle_attempt(attempt.worker, attempt.run, outcome(answer), self.now);
                    }
                    Output::Update(update) if begun => self.published.push(update.result),
                    Output::Event(event) => {
                        self.streaks.push(event.streak.map(|streak| (streak.failures, streak.threshold)));
                    }
                    _ => {}
                }
            }
            if begun {
                return;
            }
            self.now = self.now + Duration::from_secs(1);
        }
    }
}

fn outcome(answer: char) -> Outcome {
    match answer {
        'S' => Outcome::Success,
        'F' => failure(),
        'E' | 'O' => Outcome::Error { failure: false, error: "boom".into(), own: answer == 'O' },
        _ => unreachable!("an answer is S, F, E or O"),
    }
}

/// How many seconds may pass without a run: more than a period.
const PATIENCE: usize = 20;

fn with(options: ProbeOptions) -> ProbeSpec {
    ProbeSpec { options: Some(Box::new(options)), ..ProbeSpec::default() }
}

fn windowed(of: u32, at: u32, success_threshold: i32) -> ProbeSpec {
    let failures = Some(FailureWindow::new(of, at));
    ProbeSpec { success_threshold, ..with(ProbeOptions { failures, ..ProbeOptions::default() }) }
}

fn counting(failure_after_errors: i32) -> ProbeSpec {
    with(ProbeOptions { failure_after_errors, ..ProbeOptions::default() })
}

fn life(probe: ProbeSpec) -> Life {
    Life::new(ProbeType::Readiness, probe)
}

use ProbeResult::{Failure, Success};

#[test]
fn failures_need_not_be_in_a_row() {
    let mut life = life(windowed(10, 4, 1));
    assert_eq!(life.play("SFSFSFS").published, [Success]);
    assert_eq!(life.play("F").published, [Success, Failure]);
}

#[test]
fn a_container_is_well_again_when_enough_failures_have_left_the_window() {
    let mut life = life(windowed(5, 2, 1));
    assert_eq!(life.play("SFF").published, [Success, Failure]);
    assert_eq!(life.play("SSS").published, [Success, Failure], "two of the last five runs failed");
    assert_eq!(life.play("S").published, [Success, Failure, Success]);
}

#[test]
fn failures_before_the_first_success_are_forgotten_with_it() {
    assert_eq!(life(windowed(10, 4, 1)).play("FFFFFFS").published, [Success], "a failure is what it begins with");
}

#[test]
fn another_container_begins_with_an_empty_window() {
    let mut life = Life::new(ProbeType::Liveness, windowed(10, 2, 1));
    life.play("SF");
    life.take_up("c://2");
    assert_eq!(life.play("F").published, [] as [ProbeResult; 0]);
    assert_eq!(life.play("F").published, [Failure]);
}

#[test]
fn an_initialization_threshold_still_counts_failures_in_a_row() {
    let probe = ProbeSpec { initialization_failure_threshold: 6, ..windowed(3, 2, 1) };
    let mut life = Life::new(ProbeType::Liveness, probe);
    assert_eq!(life.play("FFFFF").published, [] as [ProbeResult; 0]);
    assert_eq!(life.play("SFSF").published, [Failure], "after the first success the window decides");
}

#[test]
fn an_event_counts_the_failures_of_the_window() {
    let mut life = life(windowed(10, 3, 1));
    life.play("SFSFSFF");
    assert_eq!(life.streaks, [Some((1, 3)), Some((2, 3)), Some((3, 3)), Some((3, 3))]);
}

#[test]
fn an_error_counts_from_its_number_in_a_row_on() {
    let mut life = life(counting(3));
    assert_eq!(life.play("SEEEE").published, [Success]);
    assert_eq!(life.streaks[..4], [None, None, Some((1, 3)), Some((2, 3))]);
    assert_eq!(life.play("E").published, [Success, Failure]);
}

#[test]
fn an_answer_ends_a_row_of_errors() {
    assert_eq!(life(counting(2)).play("SEFEFE").published, [Success], "two failures in a row, no two errors");
    assert_eq!(life(counting(2)).play("SEEFE").published, [Success]);
    assert_eq!(life(counting(1)).play("SFEE").published, [Success, Failure]);
}

#[test]
fn an_error_of_the_probers_own_never_counts_and_ends_no_row() {
    assert_eq!(life(counting(1)).play("SOOOOOOO").published, [Success]);
    assert_eq!(life(counting(2)).play("SEOEOEE").published, [Success, Failure]);
}

#[test]
fn without_the_option_errors_never_count() {
    assert_eq!(life(ProbeSpec::default()).play("SEEEEEEEE").published, [Success]);
    assert_eq!(life(counting(0)).play("SEEEEEEEE").published, [Success]);
}

fn answers() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!['S', 'F', 'E', 'O']), 0..80).prop_map(String::from_iter)
}

fn both() -> impl Strategy<Value = ProbeType> {
    prop::sample::select(vec![ProbeType::Readiness, ProbeType::Liveness])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rise and fall, as of a load balancer and of the kubelet, is the window whose runs must all fail.
    #[test]
    fn a_window_full_of_failures_is_failures_in_a_row(
        answers in answers(), probe_type in both(), at in 1..6_u32, successes in 1..4_i32, patience in 0..8_i32,
    ) {
        let ordinary = ProbeSpec {
            failure_threshold: at.cast_signed(),
            success_threshold: successes,
            initialization_failure_threshold: patience,
            ..ProbeSpec::default()
        };
        let options = windowed(at, at, successes).options;
        let (mut kubelet, mut window) =
            (Life::new(probe_type, ordinary.clone()), Life::new(probe_type, ProbeSpec { options, ..ordinary }));
        prop_assert_eq!(&kubelet.play(&answers).published, &window.play(&answers).published);
    }

    /// The table of the state machine, played beside it.
    #[test]
    fn a_window_publishes_what_its_table_says(
        answers in answers(), of in 1..=WINDOW_MAX, at in 1..=WINDOW_MAX, successes in 1..4_usize,
    ) {
        let at = at.min(of);
        let mut life = life(windowed(of, at, successes as i32));
        let mut runs: Vec<bool> = Vec::new();
        let mut expected = vec![Failure];
        for answer in answers.chars().filter(|answer| matches!(answer, 'S' | 'F')) {
            if answer == 'S' && !runs.contains(&true) {
                runs.clear();
            }
            runs.push(answer == 'S');
            let failures = runs.iter().rev().take(of as usize).filter(|well| !**well).count();
            let in_a_row = runs.iter().rev().take_while(|well| **well).count();
            let said = match (answer, failures >= at as usize) {
                ('F', true) => Some(Failure),
                ('S', false) if in_a_row >= successes => Some(Success),
                _ => None,
            };
            expected.extend(said.filter(|result| expected.last() != Some(result)));
        }
        prop_assert_eq!(&life.play(&answers).published, &expected[1..]);
    }

    /// A restart of the prober between any two runs changes nothing.
    #[test]
    fn the_window_and_the_errors_outlive_the_prober(answers in answers(), cut in 0..80_usize, of in 1..12_u32) {
        let failures = Some(FailureWindow::new(of, of.div_ceil(3)));
        let options = ProbeOptions { failures, failure_after_errors: 2, ..ProbeOptions::default() };
        let (mut whole, mut halved) = (life(with(options)), life(with(options)));
        let cut = cut.min(answers.len());
        halved.play(&answers[..cut]);
        if cut > 0 {
            halved.succeed();
        }
        prop_assert_eq!(&whole.play(&answers).published, &halved.play(&answers[cut..]).published);
    }
}
