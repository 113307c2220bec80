//! UpdatePodStatus: `started` and `ready` of every kind of container.

use std::sync::Arc;

use probelet_core::podstatus::{PodStatus, State};
use probelet_core::prober::Prober;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::time::Instant;

use super::{add, pod, prober, restarted, settle, status};

/// Calls UpdatePodStatus on a status; returns `ready` by container.
fn ready(prober: &mut Prober, uid: &str, mut status: PodStatus) -> Vec<(String, bool)> {
    prober.update_pod_status(uid, &mut status);
    status.containers.iter().map(|container| (container.name.to_string(), container.ready)).collect()
}

fn named(ready: [(&str, bool); 5]) -> Vec<(String, bool)> {
    ready.map(|(name, ready)| (name.to_string(), ready)).into()
}

#[test]
fn sidecars_get_ready_as_containers_do_and_init_containers_once_they_ended_well() {
    let mut prober = prober(Semantics::V1_36, false);
    prober.define_pod(pod("u", &[]));
    for (exit_code, is_ready) in [(None, false), (Some(0), true), (Some(1), false)] {
        let mut status = status("u", false);
        status.containers[2].state = State::Terminated { exit_code: 0 };
        if let Some(exit_code) = exit_code {
            status.containers[3].state = State::Terminated { exit_code };
        }
        let expected = [("a", true), ("b", true), ("s", false), ("i", is_ready), ("t", true)];
        assert_eq!(ready(&mut prober, "u", status), named(expected), "exit code {exit_code:?}");
    }
}

#[test]
fn a_sidecar_that_is_probed_is_ready_after_its_success() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Startup], false);
    let before = [("a", false), ("b", false), ("s", false), ("i", false), ("t", true)];
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(before), "no probed container has started");
    settle(&mut prober, Instant::ZERO);
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(before), "all have started, and wait for readiness");
    prober.set_pod_status("u", status("u", true));
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert_eq!(attempts, ["s Readiness", "a Readiness", "b Readiness"], "the update triggered them");
    let after = [("a", true), ("b", true), ("s", true), ("i", false), ("t", true)];
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(after));
}

#[test]
fn init_statuses_out_of_order_are_skipped_as_in_the_kubelet() {
    let mut prober = prober(Semantics::V1_36, false);
    prober.define_pod(pod("u", &[]));
    let mut status = status("u", false);
    status.containers.swap(2, 4);
    let expected = [("a", true), ("b", true), ("t", false), ("i", false), ("s", false)];
    assert_eq!(ready(&mut prober, "u", status), named(expected));
}

#[test]
fn a_container_older_than_the_prober_stays_as_the_api_says_until_it_is_probed() {
    for (semantics, api_ready, probed) in [
        (Semantics::V1_36, true, true),
        (Semantics::V1_36, false, false),
        (Semantics::V1_34, true, false),
        (Semantics::V1_34, false, false),
    ] {
        let mut prober = restarted(semantics);
        let mut spec = PodSpec::clone(&pod("u", &[ProbeType::Readiness]));
        spec.api_ready = api_ready;
        prober.define_pod(Arc::new(spec));
        prober.set_pod_status("u", status("u", true));
        prober.add_pod("u");
        let expected = [("a", probed), ("b", probed), ("s", probed), ("i", false), ("t", true)];
        assert_eq!(ready(&mut prober, "u", status("u", true)), named(expected), "{semantics:?}, {api_ready}");
    }
}
