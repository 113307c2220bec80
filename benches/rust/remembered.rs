//! What a history adds to a worker's run in the core: nanoseconds with it and without, in turns within one process, and
//! the bytes of a worker.
//!
//! Not a criterion benchmark, because that measures one thing after the other, and a busy machine changes in between.
//! Both sides have a prober of their own, and a turn measures them in one order, the next turn in the other.

use std::hint::black_box;
use std::time::Instant as Clock;

use probelet_benches::{node, past, step_each};
use probelet_core::prober::{Prober, WorkerId};
use probelet_core::time::Instant;
use probelet_play::history::{FAILURES, History, PastAttempt, PastFailure, TEXT_BYTES_MAX};

/// Nanoseconds a run, of about `runs` runs.
fn timed(prober: &mut Prober, runs: u64, mut ended: impl FnMut(WorkerId, Instant)) -> f64 {
    let (mut seen, began) = (0, Clock::now());
    while seen < runs {
        seen += step_each(prober, &mut ended).1;
    }
    began.elapsed().as_nanos() as f64 / seen as f64
}

fn middle(values: &[f64]) -> f64 {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    ordered[ordered.len() / 2]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The figures among so many workers, as fields of a JSON object.
fn measured(workers: usize, turns: usize, runs: u64) -> String {
    let attempts: Vec<PastAttempt> = (0..1_024).map(|number| past(number, true)).collect();
    let mut probers = [node(workers, 10), node(workers, 10)];
    let mut histories: Vec<Box<History>> = (0..workers).map(|_| Box::default()).collect();
    let ended = |number: &mut usize, now: Instant| {
        *number = (*number + 1) % attempts.len();
        PastAttempt { at_ms: (now.as_nanos() / 1_000_000) as i64, ..attempts[*number] }
    };
    let (mut first_number, mut second_number) = (0, 0);
    let mut remember = |worker: WorkerId, now: Instant| {
        black_box(histories[worker as usize].add(&black_box(ended(&mut first_number, now)), ""));
    };
    let mut forget = |worker: WorkerId, now: Instant| {
        black_box((worker, ended(&mut second_number, now)));
    };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        let [first, second] = &mut probers;
        if turn % 2 == 0 {
            with.push(timed(first, runs, &mut remember));
            without.push(timed(second, runs, &mut forget));
        } else {
            without.push(timed(second, runs, &mut forget));
            with.push(timed(first, runs, &mut remember));
        }
    }
    format!(
        "\"workers\": {workers}, \"with_ns\": {:.1}, \"without_ns\": {:.1}, \"least_with_ns\": {:.1}, \
         \"least_without_ns\": {:.1}",
        middle(&with),
        middle(&without),
        least(&with),
        least(&without),
    )
}

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (turns, runs) = if is_test { (20, 1_000) } else { (TURNS, RUNS) };
    let (bytes, failures) = (size_of::<History>(), FAILURES * (size_of::<PastFailure>() + TEXT_BYTES_MAX));
    let found = measured(WORKERS, turns, runs);
    let large = measured(MANY_WORKERS, turns / 10, 10 * runs);
    println!(
        "{{\"turns\": {turns}, \"runs\": {runs}, \"bytes\": {bytes}, \"failures_bytes\": {failures}, {found}, \
         \"large\": {{{large}}}}}"
    );
}

/// A node's: their histories lie in the processor's caches.
const WORKERS: usize = 200;
/// Their histories lie in no cache. The engine loads what it has of a worker when an attempt begins
/// (`StatsTable::expect`); this program does not, so it waits for the memory.
const MANY_WORKERS: usize = 10_000;
const TURNS: usize = 400;
const RUNS: u64 = 5_000;
