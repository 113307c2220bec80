//! Signals of one moment: which worker takes its turn first, and which of a worker's signals counts.

use probelet_core::prober::Prober;
use probelet_core::semantics::Semantics;
use probelet_core::spec::ProbeType;
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;

use super::{add, pod, prober, settle, status, working};

const LATER: Instant = Instant::from_millis(1_000);

/// A prober whose readiness workers wait for their ticks; no container is ready.
fn waiting() -> Prober {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness], false);
    settle(&mut prober, Instant::ZERO);
    prober.set_pod_status("u", status("u", true));
    prober
}

fn trigger(prober: &mut Prober) {
    prober.update_pod_status("u", &mut status("u", true));
}

#[test]
fn a_worker_that_is_made_after_others_were_triggered_begins_before_them() {
    let mut prober = waiting();
    trigger(&mut prober);
    prober.define_pod(pod("u", &ProbeType::ALL));
    prober.add_pod("u");
    let first = working(&prober, "u").pop();
    assert_eq!(first.as_deref(), Some("a Startup"), "AddPod went no further than the first worker it found");
    let mut manager = StatusManager::new(prober, Glue::KUBELET);
    manager.settle(LATER);
    let started = manager.prober().pod_status("u").expect("it was set").containers[0].started;
    assert_eq!(started, Some(false), "its initial value is Unknown");
    let (attempts, _) = settle(manager.prober_mut(), LATER);
    assert_eq!(attempts, ["b Readiness", "s Readiness"], "the readiness of `a` sees that");
}

#[test]
fn a_trigger_before_a_stop_runs_the_worker_once_more() {
    let mut prober = waiting();
    trigger(&mut prober);
    prober.remove_pod("u");
    let (attempts, _) = settle(&mut prober, LATER);
    assert_eq!((attempts.len(), prober.worker_count()), (3, 0));
}

#[test]
fn a_stop_before_a_trigger_ends_the_worker() {
    let mut prober = waiting();
    prober.remove_pod("u");
    assert_eq!(working(&prober, "u"), Vec::<String>::new(), "each has been asked to stop");
    trigger(&mut prober);
    let (attempts, _) = settle(&mut prober, LATER);
    assert_eq!((attempts.len(), prober.worker_count()), (0, 0));
}
