//! The start decision with its keyed back-off, the crash-loop model on top of it, and the token bucket.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use probelet_core::backoff::{Backoff, Curve, Exit};
use probelet_core::bucket::TokenBucket;
use probelet_core::crashloop::{Load, Scene, Scheduler};
use probelet_core::restart::RestartPolicy;
use probelet_core::time::Instant;

/// As many containers as a full node has in back-off when all of them crash.
const CONTAINERS: usize = 10_000;

fn backoff(criterion: &mut Criterion) {
    let keys: Vec<String> = (0..CONTAINERS).map(|n| format!("app-{n}/default/00000000-0000-4000/app/image")).collect();
    let mut table = Backoff::new(Curve::default());
    let (mut now, mut next) = (Instant::ZERO, 0);
    criterion.bench_function("back-off/decide among 10,000 keys", |bench| {
        bench.iter(|| {
            // Every container of the node crashes in turn, so each key is used again only after all the others.
            next = (next + 1) % CONTAINERS;
            now = now + Duration::from_millis(1);
            let exit = Exit { finished: now, code: 1 };
            black_box(table.decide(&keys[next], Some(exit), RestartPolicy::Always, &[], now))
        });
    });
}

/// Half an hour of one pod; a million pods take a million times as long.
fn crash_loop(criterion: &mut Criterion) {
    let scene = Scene {
        curve: Curve::REDUCED,
        jitter_milli: 0,
        run_min: Duration::ZERO,
        run_max: Duration::ZERO,
        exit_code: 1,
        policy: RestartPolicy::Always,
        scheduler: Scheduler::Exact,
    };
    let mut load = Load::new(Duration::from_secs(1_800), Duration::from_secs(1));
    criterion.bench_function("crash loop/30 min of a pod on 1s/60s", |bench| {
        bench.iter(|| load.add(black_box(&scene), Instant::ZERO, 0));
    });
}

fn bucket(criterion: &mut Criterion) {
    let mut bucket = TokenBucket::new(25, Duration::from_secs(300));
    let mut now = Instant::ZERO;
    criterion.bench_function("token bucket/take", |bench| {
        bench.iter(|| {
            now = now + Duration::from_secs(100); // Two of three are refused.
            black_box(bucket.take(1, now))
        });
    });
}

fn configured() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

fn main() {
    let mut criterion = configured().configure_from_args();
    backoff(&mut criterion);
    crash_loop(&mut criterion);
    bucket(&mut criterion);
    criterion.final_summary();
}
