//! Jumps of the wall clock: timers stay on the driver's clock and do not move; only `startedAt` is compared with the
//! wall clock.

use std::time::Duration;

use probelet_core::prober::{Outcome, Output, Prober};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::{Instant, WallOffset};

use crate::single::{UID, failure, pod, running, settings};

/// Returns when the runs of a liveness probe began and when Failure was published, in seconds. The container has been
/// running since second 0. At each second in `jumps` the wall clock is set to another offset, in seconds.
fn life(initial_delay_seconds: i32, answer: fn() -> Outcome, jumps: &[(u64, i64)]) -> (Vec<u64>, Vec<u64>) {
    let probe = ProbeSpec { initial_delay_seconds, ..ProbeSpec::default() };
    let mut prober = Prober::new(settings(), Instant::ZERO);
    prober.define_pod(pod([(ProbeType::Liveness, probe)]));
    let mut status = running("c://1", Instant::ZERO);
    status.containers[0].started = Some(true);
    prober.set_pod_status(UID, status);
    prober.add_pod(UID);
    let (mut runs, mut verdicts) = (Vec::new(), Vec::new());
    for second in 0..SECONDS {
        let now = Instant::ZERO + Duration::from_secs(second);
        for &(_, offset) in jumps.iter().filter(|jump| jump.0 == second) {
            prober.handle_wall_offset(WallOffset(offset * 1_000_000_000));
        }
        prober.settle(now);
        while let Some(output) = prober.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    runs.push(second);
                    prober.handle_attempt(attempt.worker, attempt.run, answer(), now);
                    prober.settle(now);
                }
                Output::Update(update) if update.result == ProbeResult::Failure => verdicts.push(second),
                _ => {}
            }
        }
    }
    (runs, verdicts)
}

const SECONDS: u64 = 120;
const YEAR: i64 = 365 * 86_400;

#[test]
fn a_jump_moves_no_run_and_no_verdict() {
    let still = life(0, failure, &[]);
    assert_eq!(still, ((0..30).step_by(10).collect(), vec![20]));
    assert_eq!(life(0, failure, &[(5, YEAR), (15, 0), (17, 7)]), still);
    assert_eq!(life(0, || Outcome::Success, &[(5, YEAR), (95, 3)]), life(0, || Outcome::Success, &[]));
}

#[test]
fn a_jump_forward_ends_an_initial_delay_as_in_a_kubelet() {
    assert_eq!(life(30, || Outcome::Success, &[]).0.first(), Some(&30));
    assert_eq!(life(30, || Outcome::Success, &[(5, YEAR)]).0.first(), Some(&10));
}

#[test]
fn a_jump_to_before_a_containers_start_holds_up_its_probes_as_in_a_kubelet() {
    let (runs, verdicts) = life(0, failure, &[(5, -YEAR), (75, 0)]);
    assert_eq!(runs, [0, 80, 90]);
    assert_eq!(verdicts, [90], "failures counted before the jump still count");
}
