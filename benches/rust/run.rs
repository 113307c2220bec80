//! A worker's whole run in the core, from its due timer to its next wait: the decision table, an attempt that succeeds,
//! thresholds, results. The inverse of the time per run is the throughput of virtual time.

use std::time::{Duration, Instant as Clock};

use criterion::{BenchmarkId, Criterion};
use probelet_benches::{node, step};

fn run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("worker run");
    for workers in [100, 10_000, 100_000] {
        let mut prober = node(workers, 10);
        group.bench_function(BenchmarkId::from_parameter(workers), |bench| {
            bench.iter_custom(|runs| {
                let (mut seen, began) = (0, Clock::now());
                while seen < runs {
                    seen += step(&mut prober).1;
                }
                began.elapsed().mul_f64(runs as f64 / seen as f64)
            });
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
    run(&mut criterion);
    criterion.final_summary();
}
