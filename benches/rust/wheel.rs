//! Fire and rearm: the timer wheel beside a binary heap, a `BTreeMap` and tokio's `DelayQueue`.
//!
//! N timers with random phases and a period of ten seconds, as probes have. Time moves in steps of ten milliseconds.
//! Each timer that is due is armed again one period later, and each step reads the next deadline, as a driver does. The
//! result is the time per fired timer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;
use std::time::{Duration, Instant as Clock};

use criterion::{BenchmarkId, Criterion};
use probelet_core::rng::Rng;
use probelet_core::time::Instant;
use probelet_core::wheel::TimerWheel;
use tokio_util::time::DelayQueue;

const PERIOD: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(10);
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn phases(timers: u64) -> impl Iterator<Item = Duration> {
    let mut rng = Rng::new(1);
    (0..timers).map(move |_| Duration::from_nanos(rng.below(PERIOD.as_nanos() as u64)))
}

/// Calls `step`, which returns how many timers it fired, until `fires` have fired; returns the time for exactly that
/// many.
fn time_fires(fires: u64, mut step: impl FnMut() -> u64) -> Duration {
    let (mut fired, began) = (0, Clock::now());
    while fired < fires {
        fired += step();
    }
    began.elapsed().mul_f64(fires as f64 / fired as f64)
}

fn wheel(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fire+rearm/wheel");
    for timers in SIZES {
        let mut wheel = TimerWheel::new();
        let mut now = Instant::ZERO;
        for (token, phase) in phases(timers).enumerate() {
            wheel.arm(now + phase, token);
        }
        let mut step = || {
            let mut fired = 0;
            now = now + STEP;
            while let Some((deadline, token)) = wheel.pop(now) {
                wheel.arm(deadline + PERIOD, token);
                fired += 1;
            }
            black_box(wheel.next_deadline());
            fired
        };
        group.bench_function(BenchmarkId::from_parameter(timers), |bench| {
            bench.iter_custom(|fires| time_fires(fires, &mut step));
        });
    }
}

fn binary_heap(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fire+rearm/binary heap");
    for timers in SIZES {
        let mut now = Instant::ZERO;
        let mut order = timers;
        let mut heap: BinaryHeap<_> =
            phases(timers).enumerate().map(|(token, phase)| Reverse((now + phase, token as u64, token))).collect();
        let mut step = || {
            let mut fired = 0;
            now = now + STEP;
            while heap.peek().is_some_and(|Reverse((deadline, ..))| *deadline <= now) {
                let Reverse((deadline, _, token)) = heap.pop().expect("just seen");
                order += 1; // FIFO among equals, as the wheel promises
                heap.push(Reverse((deadline + PERIOD, order, token)));
                fired += 1;
            }
            black_box(heap.peek());
            fired
        };
        group.bench_function(BenchmarkId::from_parameter(timers), |bench| {
            bench.iter_custom(|fires| time_fires(fires, &mut step));
        });
    }
}

fn btree_map(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fire+rearm/BTreeMap");
    for timers in SIZES {
        let mut now = Instant::ZERO;
        let mut order = timers;
        let mut tree: BTreeMap<_, _> =
            phases(timers).enumerate().map(|(token, phase)| ((now + phase, token as u64), token)).collect();
        let mut step = || {
            let mut fired = 0;
            now = now + STEP;
            while let Some(first) = tree.first_entry().filter(|first| first.key().0 <= now) {
                let ((deadline, _), token) = first.remove_entry();
                order += 1; // FIFO among equals, as the wheel promises
                tree.insert((deadline + PERIOD, order), token);
                fired += 1;
            }
            black_box(tree.first_key_value());
            fired
        };
        group.bench_function(BenchmarkId::from_parameter(timers), |bench| {
            bench.iter_custom(|fires| time_fires(fires, &mut step));
        });
    }
}

fn delay_queue(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without I/O");
    let mut group = criterion.benchmark_group("fire+rearm/tokio DelayQueue");
    for timers in SIZES {
        let mut queue = DelayQueue::new();
        runtime.block_on(async {
            for (token, phase) in phases(timers).enumerate() {
                queue.insert(token, phase);
            }
        });
        // One poll per step on the paused clock: it advances the clock, takes everything that is due, and arms it
        // again.
        let mut step = || {
            runtime.block_on(async {
                tokio::time::advance(STEP).await;
                poll_fn(|context| {
                    let mut fired = 0;
                    while let Poll::Ready(Some(expired)) = queue.poll_expired(context) {
                        let deadline = expired.deadline();
                        queue.insert_at(expired.into_inner(), deadline + PERIOD);
                        fired += 1;
                    }
                    Poll::Ready(fired)
                })
                .await
            })
        };
        group.bench_function(BenchmarkId::from_parameter(timers), |bench| {
            bench.iter_custom(|fires| time_fires(fires, &mut step));
        });
    }
}

fn configured() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

fn main() {
    let mut criterion = configured().configure_from_args();
    wheel(&mut criterion);
    binary_heap(&mut criterion);
    btree_map(&mut criterion);
    delay_queue(&mut criterion);
    criterion.final_summary();
}
