//! Arm, cancel and cascade: the timer wheel beside a binary heap, a `BTreeMap` and tokio's `DelayQueue`.
//!
//! Deadlines lie anywhere within an hour, so that the wheel uses all of its lower levels. A cascade takes every timer
//! out in order, from an hour away to due. The result is the time per timer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::hint::black_box;
use std::time::{Duration, Instant as Clock};

use criterion::{BenchmarkId, Criterion};
use probelet_core::rng::Rng;
use probelet_core::time::Instant;
use probelet_core::timer::{TimerId, TimerTable};
use probelet_core::wheel::TimerWheel;
use tokio::runtime::Runtime;
use tokio_util::time::{DelayQueue, delay_queue};

const HOUR: Duration = Duration::from_secs(3600);
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

trait Timers {
    type Key;
    const NAME: &'static str;
    fn empty() -> Self;
    fn arm(&mut self, after: Duration, token: usize) -> Self::Key;
    fn cancel(&mut self, key: Self::Key);
}

/// Takes out the timers that are due, in order.
trait Due: Timers {
    fn pop(&mut self, now: Instant) -> Option<usize>;
    fn next(&mut self) -> Option<Instant>;
}

/// The wheel as the engine uses it: timers are cancelled by name, and a sweep drops dead entries when they are too
/// many.
#[derive(Default)]
struct Wheel {
    wheel: TimerWheel<TimerId>,
    table: TimerTable<usize>,
}

impl Timers for Wheel {
    type Key = TimerId;
    const NAME: &'static str = "wheel";

    fn empty() -> Self {
        Self::default()
    }

    fn arm(&mut self, after: Duration, token: usize) -> TimerId {
        let id = self.table.insert(token);
        self.wheel.arm(Instant::ZERO + after, id);
        id
    }

    fn cancel(&mut self, key: TimerId) {
        self.table.cancel(key);
        if self.table.is_crowded() {
            self.wheel.retain(|&id| self.table.is_live(id));
            self.table.swept();
        }
    }
}

impl Due for Wheel {
    fn pop(&mut self, now: Instant) -> Option<usize> {
        while let Some((_, id)) = self.wheel.pop(now) {
            if let Some(token) = self.table.fire(id) {
                return Some(token);
            }
        }
        None
    }

    fn next(&mut self) -> Option<Instant> {
        self.wheel.next_deadline()
    }
}

/// Cancels as on the wheel: the entry stays until it is due or a sweep drops it.
#[derive(Default)]
struct Heap {
    heap: BinaryHeap<Reverse<(Instant, u64, u64)>>,
    order: u64,
    table: TimerTable<usize>,
}

impl Timers for Heap {
    type Key = TimerId;
    const NAME: &'static str = "binary heap";

    fn empty() -> Self {
        Self::default()
    }

    fn arm(&mut self, after: Duration, token: usize) -> TimerId {
        let id = self.table.insert(token);
        self.order += 1; // FIFO among equals, as the wheel promises
        self.heap.push(Reverse((Instant::ZERO + after, self.order, id.to_bits())));
        id
    }

    fn cancel(&mut self, key: TimerId) {
        self.table.cancel(key);
        if self.table.is_crowded() {
            self.heap.retain(|Reverse((.., id))| self.table.is_live(TimerId::from_bits(*id)));
            self.table.swept();
        }
    }
}

impl Due for Heap {
    fn pop(&mut self, now: Instant) -> Option<usize> {
        while self.heap.peek().is_some_and(|Reverse((deadline, ..))| *deadline <= now) {
            let Reverse((.., id)) = self.heap.pop().expect("just seen");
            if let Some(token) = self.table.fire(TimerId::from_bits(id)) {
                return Some(token);
            }
        }
        None
    }

    fn next(&mut self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((deadline, ..))| *deadline)
    }
}

#[derive(Default)]
struct Tree {
    tree: BTreeMap<(Instant, u64), usize>,
    order: u64,
}

impl Timers for Tree {
    type Key = (Instant, u64);
    const NAME: &'static str = "BTreeMap";

    fn empty() -> Self {
        Self::default()
    }

    fn arm(&mut self, after: Duration, token: usize) -> Self::Key {
        self.order += 1;
        let key = (Instant::ZERO + after, self.order);
        self.tree.insert(key, token);
        key
    }

    fn cancel(&mut self, key: Self::Key) {
        self.tree.remove(&key);
    }
}

impl Due for Tree {
    fn pop(&mut self, now: Instant) -> Option<usize> {
        let first = self.tree.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    fn next(&mut self) -> Option<Instant> {
        self.tree.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}

impl Timers for DelayQueue<usize> {
    type Key = delay_queue::Key;
    const NAME: &'static str = "tokio DelayQueue";

    fn empty() -> Self {
        Self::new()
    }

    fn arm(&mut self, after: Duration, token: usize) -> Self::Key {
        self.insert(token, after)
    }

    fn cancel(&mut self, key: Self::Key) {
        self.remove(&key);
    }
}

fn full<T: Timers>(timers: u64) -> (T, Vec<T::Key>) {
    let (mut all, mut rng) = (T::empty(), Rng::new(1));
    let hour = HOUR.as_nanos() as u64;
    let keys = (0..timers).map(|token| all.arm(Duration::from_nanos(rng.below(hour)), token as usize)).collect();
    (all, keys)
}

/// Measures `work` on full structures: the time per timer, for as many timers as criterion asks for.
fn per_timer<T: Timers>(criterion: &mut Criterion, what: &str, mut work: impl FnMut(u64) -> Duration) {
    let mut group = criterion.benchmark_group(format!("{what}/{}", T::NAME));
    for timers in SIZES {
        group.bench_function(BenchmarkId::from_parameter(timers), |bench| {
            bench.iter_custom(|wanted| {
                let (mut done, mut took) = (0, Duration::ZERO);
                while done < wanted {
                    took += work(timers);
                    done += timers;
                }
                took.mul_f64(wanted as f64 / done as f64)
            });
        });
    }
}

fn arm<T: Timers>(criterion: &mut Criterion) {
    per_timer::<T>(criterion, "arm", |timers| {
        let began = Clock::now();
        let all = full::<T>(timers);
        let took = began.elapsed();
        black_box(all);
        took
    });
}

fn cancel<T: Timers>(criterion: &mut Criterion) {
    per_timer::<T>(criterion, "cancel", |timers| {
        let (mut all, keys) = full::<T>(timers);
        let began = Clock::now();
        keys.into_iter().for_each(|key| all.cancel(key));
        began.elapsed()
    });
}

fn cascade<T: Due>(criterion: &mut Criterion) {
    per_timer::<T>(criterion, "cascade", |timers| {
        let (mut all, _) = full::<T>(timers);
        let began = Clock::now();
        while let Some(now) = all.next() {
            while let Some(token) = all.pop(now) {
                black_box(token);
            }
        }
        began.elapsed()
    });
}

/// The queue's clock is the runtime's; a paused runtime moves it to the next timer.
fn cascade_of_the_delay_queue(criterion: &mut Criterion, runtime: &Runtime) {
    per_timer::<DelayQueue<usize>>(criterion, "cascade", |timers| {
        runtime.block_on(async {
            let (mut all, _) = full::<DelayQueue<usize>>(timers);
            let began = Clock::now();
            while let Some(expired) = poll_fn(|context| all.poll_expired(context)).await {
                black_box(expired.into_inner());
            }
            began.elapsed()
        })
    });
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without I/O");
    let inside = runtime.enter();
    let configured = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(100));
    let mut criterion = configured.measurement_time(Duration::from_millis(300)).configure_from_args();
    arm::<Wheel>(&mut criterion);
    arm::<Heap>(&mut criterion);
    arm::<Tree>(&mut criterion);
    arm::<DelayQueue<usize>>(&mut criterion);
    cancel::<Wheel>(&mut criterion);
    cancel::<Heap>(&mut criterion);
    cancel::<Tree>(&mut criterion);
    cancel::<DelayQueue<usize>>(&mut criterion);
    cascade::<Wheel>(&mut criterion);
    cascade::<Heap>(&mut criterion);
    cascade::<Tree>(&mut criterion);
    drop(inside);
    cascade_of_the_delay_queue(&mut criterion, &runtime);
    criterion.final_summary();
}
