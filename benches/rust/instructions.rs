//! Pieces of work whose instructions are counted: `instructions NAME TIMES` does one of them `TIMES` times and exits.
//!
//! `make bench-instructions` runs each piece under callgrind twice, with two numbers of times. The difference is the
//! work without its set-up, and it is the same on a busy machine.

use std::hint::black_box;
use std::time::Duration;

use probelet_benches::{node, pod, step};
use probelet_core::backoff::{Backoff, Curve, Exit};
use probelet_core::bucket::TokenBucket;
use probelet_core::restart::RestartPolicy;
use probelet_core::rng::Rng;
use probelet_core::time::Instant;
use probelet_core::wheel::TimerWheel;

type Work = fn(u64);

const ALL: [(&str, Work); 5] = [
    ("wheel fire+rearm of 10,000", wheel),
    ("worker run of 1,000", run),
    ("pod added to the prober", add),
    ("back-off decision", backoff),
    ("token taken", bucket),
];

fn wheel(times: u64) {
    const PERIOD: Duration = Duration::from_secs(10);
    let (mut wheel, mut rng) = (TimerWheel::new(), Rng::new(1));
    for token in 0..10_000 {
        wheel.arm(Instant::ZERO + Duration::from_nanos(rng.below(PERIOD.as_nanos() as u64)), token);
    }
    for _ in 0..times {
        let now = wheel.next_deadline().expect("the wheel is never empty");
        let (deadline, token) = wheel.pop(now).expect("the timer is due");
        wheel.arm(deadline + PERIOD, token);
    }
}

fn run(times: u64) {
    let mut prober = node(1000, 10);
    let mut seen = 0;
    while seen < times {
        seen += step(&mut prober).1;
    }
}

fn add(times: u64) {
    let mut prober = node(0, 10);
    for number in 0..times {
        prober.define_pod(pod(number as usize, 10));
    }
    black_box(&prober);
}

fn backoff(times: u64) {
    let mut table = Backoff::new(Curve::default());
    let mut now = Instant::ZERO;
    for _ in 0..times {
        now = now + Duration::from_millis(1);
        black_box(table.decide("app", Some(Exit { finished: now, code: 1 }), RestartPolicy::Always, &[], now));
    }
}

fn bucket(times: u64) {
    let (mut bucket, mut now) = (TokenBucket::new(25, Duration::from_secs(300)), Instant::ZERO);
    for _ in 0..times {
        now = now + Duration::from_secs(100);
        black_box(bucket.take(1, now));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.as_slice() {
        [name, times] => {
            let (_, work) = ALL.iter().find(|(known, _)| known == name).expect("a name of the list");
            work(times.parse().expect("a number of times"));
        }
        // Without arguments, also under `cargo bench`, print the names.
        _ => ALL.iter().for_each(|(name, _)| println!("{name}")),
    }
}
