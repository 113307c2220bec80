//! Bytes per idle worker in the core, at 100,000 workers: what the allocator hands out for each layer of a pod.
//!
//! Not a criterion benchmark, since nothing is timed. `--test` takes a hundredth of the pods.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use probelet_benches::{answer, pod, prober, running, step};
use probelet_core::time::Instant;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator with the caller's arguments; the count is separate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller guarantees `layout`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above, so from the system allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let pods = if std::env::args().any(|argument| argument == "--test") { PODS / 100 } else { PODS };
    let per_pod = |since: usize| (HELD.load(Ordering::Relaxed) - since) / pods;
    let held = || HELD.load(Ordering::Relaxed);
    let mut prober = prober();

    let start = held();
    let objects: Vec<_> = (0..pods).map(|n| pod(n, 10)).collect();
    for object in &objects {
        prober.define_pod(Arc::clone(object));
    }
    let object_bytes = per_pod(start);

    let start = held();
    for (n, object) in objects.iter().enumerate() {
        prober.set_pod_status(&object.uid, running(n, object));
    }
    let status_bytes = per_pod(start);

    let start = held();
    for object in &objects {
        prober.add_pod(&object.uid);
    }
    prober.settle(Instant::ZERO);
    answer(&mut prober, Instant::ZERO);
    let mut runs = 0;
    // Ten minutes, so that every slot of the wheel that lies within a period has been used.
    while runs < 60 * pods as u64 {
        runs += step(&mut prober).1;
    }
    let worker_bytes = per_pod(start);
    assert_eq!(prober.worker_count(), pods);
    let found =
        format!("{{\"worker\": {worker_bytes}, \"pod status\": {status_bytes}, \"pod object\": {object_bytes}}}");
    println!("memory: {pods} idle workers, bytes each: {found}");
    if pods == PODS {
        std::fs::write(KEPT, found).expect("the folder that cargo builds in");
    }
}

const PODS: usize = 100_000;
/// `benches/report/micro.py` reads the result here.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/memory.json");
