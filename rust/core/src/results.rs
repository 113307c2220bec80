//! The result caches of the three probe types (kubelet prober/results/results_manager.go, 1.36).
//!
//! Container IDs are interned, so that a run finds its container by a small number instead of by text. An ID lives as
//! long as a status or a worker holds it or a result is cached under it, and those statuses share its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::slab::Slab;
use crate::spec::ProbeType;

/// The cached verdict of a probe. A missing entry is a state of its own, apart from all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeResult {
    /// The failure threshold was reached, or, in a kubelet, the container does not run.
    Failure,
    /// The success threshold was reached.
    Success,
    /// A startup probe has not decided yet; in enhanced liveness also a liveness probe, or its container does not run.
    Unknown,
}

impl ProbeResult {
    /// `Success`, `Failure` or `Unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failure => "Failure",
            Self::Success => "Success",
            Self::Unknown => "Unknown",
        }
    }
}

/// An interned container ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContainerKey(u32);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Container {
    id: Arc<str>,
    cached: [Option<ProbeResult>; 3],
    holders: u32,
}

/// The three caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    keys: BTreeMap<Arc<str>, ContainerKey>,
    containers: Slab<Container>,
}

/// The canonical form of a container ID: `type://id` without surrounding quotes, or the empty ID for anything else
/// (kubelet container/runtime.go:ParseContainerID, 1.36).
pub(crate) fn canonical(raw: &str) -> &str {
    let id = raw.trim_matches('"');
    if id.matches("://").count() == 1 { id } else { EMPTY_ID }
}

impl Results {
    pub(crate) const fn new() -> Self {
        Self { keys: BTreeMap::new(), containers: Slab::new() }
    }

    /// Interns an ID and holds it once. `raw` then shares the interned text, if it is as written.
    pub(crate) fn hold(&mut self, raw: &mut Arc<str>) -> ContainerKey {
        let id = canonical(raw);
        let key = match self.keys.get(id) {
            Some(&key) => key,
            None => {
                let id: Arc<str> = id.into();
                let container = Container { id: Arc::clone(&id), cached: [None; 3], holders: 0 };
                let key = ContainerKey(self.containers.insert(container));
                self.keys.insert(id, key);
                key
            }
        };
        let container = &mut self.containers[key.0];
        container.holders += 1;
        if **raw == *container.id {
            *raw = Arc::clone(&container.id);
        }
        key
    }

    /// Holds an ID once more.
    pub(crate) fn hold_again(&mut self, key: ContainerKey) {
        self.containers[key.0].holders += 1;
    }

    /// Releases one hold on an ID.
    pub(crate) fn release(&mut self, key: ContainerKey) {
        self.containers[key.0].holders -= 1;
        self.drop_unused(key);
    }

    pub(crate) fn find(&self, raw: &str) -> Option<ContainerKey> {
        self.keys.get(canonical(raw)).copied()
    }

    pub(crate) fn id(&self, key: ContainerKey) -> &Arc<str> {
        &self.containers[key.0].id
    }

    /// Whether the ID is the empty one, which no container has.
    pub(crate) fn is_empty(&self, key: ContainerKey) -> bool {
        **self.id(key) == *EMPTY_ID
    }

    pub(crate) fn get(&self, probe_type: ProbeType, key: ContainerKey) -> Option<ProbeResult> {
        self.containers[key.0].cached[probe_type as usize]
    }

    /// Where the results of a container lie, without a look at them.
    pub(crate) fn place(&self, key: ContainerKey) -> Option<&impl Sized> {
        self.containers.place(key.0)
    }

    /// Stores a result; returns true if it is new or differs, because the kubelet then sends an update.
    pub(crate) fn set(&mut self, probe_type: ProbeType, key: ContainerKey, result: ProbeResult) -> bool {
        self.containers[key.0].cached[probe_type as usize].replace(result) != Some(result)
    }

    /// Drops a result; returns true if there was one. The kubelet sends no update for this (results_manager.go:Remove).
    pub(crate) fn remove(&mut self, probe_type: ProbeType, key: ContainerKey) -> bool {
        let had = self.containers[key.0].cached[probe_type as usize].take().is_some();
        self.drop_unused(key);
        had
    }

    /// Every cached result, in order of the container IDs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ProbeType, &Arc<str>, ProbeResult)> {
        self.keys.iter().flat_map(move |(id, key)| {
            ProbeType::ALL.into_iter().filter_map(move |probe_type| Some((probe_type, id, self.get(probe_type, *key)?)))
        })
    }

    fn drop_unused(&mut self, key: ContainerKey) {
        let container = &self.containers[key.0];
        if container.holders == 0 && container.cached == [None; 3] {
            let container = self.containers.remove(key.0).expect("the container was read above");
            self.keys.remove(&container.id);
        }
    }
}

/// The kubelet's text of a container ID without type and id.
const EMPTY_ID: &str = "://";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_or_different_result_is_an_update() {
        let mut results = Results::new();
        let key = results.hold(&mut "containerd://1".into());
        assert!(results.set(ProbeType::Liveness, key, ProbeResult::Success));
        assert!(!results.set(ProbeType::Liveness, key, ProbeResult::Success));
        assert!(results.set(ProbeType::Liveness, key, ProbeResult::Failure));
        assert_eq!(results.get(ProbeType::Readiness, key), None);
    }

    #[test]
    fn an_id_lives_until_its_last_holder_and_result_are_gone() {
        let mut results = Results::new();
        let key = results.hold(&mut "containerd://1".into());
        results.set(ProbeType::Startup, key, ProbeResult::Unknown);
        results.release(key);
        assert_eq!(results.find("containerd://1"), Some(key), "a cached result keeps it");
        assert!(results.remove(ProbeType::Startup, key));
        assert_eq!(results.find("containerd://1"), None);
    }

    #[test]
    fn a_status_shares_the_interned_id_unless_it_wrote_another_one() {
        let mut results = Results::new();
        let (mut first, mut second, mut quoted): (Arc<str>, Arc<str>, Arc<str>) =
            ("containerd://1".into(), "containerd://1".into(), "\"containerd://1\"".into());
        let key = results.hold(&mut first);
        assert_eq!([results.hold(&mut second), results.hold(&mut quoted)], [key, key]);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(&*quoted, "\"containerd://1\"");
    }

    #[test]
    fn a_result_is_named_as_the_kubelet_prints_it() {
        let names = [ProbeResult::Failure, ProbeResult::Success, ProbeResult::Unknown].map(ProbeResult::name);
        assert_eq!(names, ["Failure", "Success", "Unknown"]);
    }

    #[test]
    fn quotes_are_stripped_and_anything_malformed_is_the_empty_id() {
        assert_eq!(canonical("\"docker://a\""), "docker://a");
        assert_eq!(canonical("no-scheme"), EMPTY_ID);
        assert_eq!(canonical("a://b://c"), EMPTY_ID);
    }
}
