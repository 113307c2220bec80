//! The kubelet's glue between results and status (kubelet.go:syncLoopIteration and status/status_manager.go, 1.36).
//!
//! Above the prober, for whoever lets probelet keep the status: results set `ready` and `started` of the stored status
//! and ask for a sync; a sync builds the status anew from the runtime's facts and hands it to the prober.
//! The law is the prober's: inputs change state, [`StatusManager::settle`] lets what follows happen, outputs are drained.

mod conditions;
mod transition;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::conditions::{is_initialized, is_ready};
use self::transition::is_refused;
use crate::podstatus::{ContainerStatus, PodStatus};
use crate::prober::{Output, Prober, Update};
use crate::results::ProbeResult;
use crate::semantics::StartedInheritance;
use crate::spec::{PodSpec, ProbeType};
use crate::time::Instant;

/// Which results are acted on. A caller that keeps the status itself wants none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glue {
    /// Readiness updates set `ready`.
    pub readiness: bool,
    /// Startup updates set `started`.
    pub startup: bool,
    /// Readiness and startup updates and liveness failures ask for a sync.
    pub sync: bool,
}

impl Glue {
    /// What the kubelet does.
    pub const KUBELET: Self = Self { readiness: true, startup: true, sync: true };
    /// The supplied status is the caller's.
    pub const NONE: Self = Self { readiness: false, startup: false, sync: false };
}

/// The prober with the kubelet's status handling on top.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatusManager {
    prober: Prober,
    glue: Glue,
    /// Pods whose status a caller supplies, as with [`Glue::NONE`]: their results are the caller's to act on.
    supplied: BTreeSet<Box<str>>,
    /// How many of the outputs that wait were acted on already.
    seen: usize,
}

impl StatusManager {
    /// Puts the glue on top of a prober.
    pub const fn new(prober: Prober, glue: Glue) -> Self {
        Self { prober, glue, supplied: BTreeSet::new(), seen: 0 }
    }

    /// The prober below.
    pub const fn prober(&self) -> &Prober {
        &self.prober
    }

    /// The prober below. Its inputs may be used; settling and draining go through this type.
    pub const fn prober_mut(&mut self) -> &mut Prober {
        &mut self.prober
    }

    /// Lets everything happen that is due at `now`. What follows from a result happens before the next worker is woken,
    /// as in the kubelet, whose consumer of updates runs beside the workers.
    pub fn settle(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Lets one thing happen that is due at `now`; false if there is none.
    pub fn step(&mut self, now: Instant) -> bool {
        self.react();
        self.prober.step(now)
    }

    /// The next thing for the driver to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        // Nobody may see a result before it was acted on.
        if self.seen == 0 {
            self.react();
        }
        self.seen = self.seen.saturating_sub(1);
        self.prober.poll_output()
    }

    /// SyncPod: status from the runtime's facts, UpdatePodStatus, SetPodStatus, AddPod. `facts` names containers in any
    /// order, with neither `ready` nor `started`. None if the pod was not defined.
    pub fn sync_pod(&mut self, uid: &str, facts: PodStatus) -> Option<&PodStatus> {
        self.store(uid, facts)?;
        if !self.prober.pod_status(uid)?.phase.is_terminal() {
            self.prober.add_pod(uid);
        }
        self.prober.pod_status(uid)
    }

    /// SyncTerminatingPod: as [`StatusManager::sync_pod`], but liveness and startup stop and no worker is added.
    pub fn sync_terminating_pod(&mut self, uid: &str, facts: PodStatus) -> Option<&PodStatus> {
        self.store(uid, facts)?;
        self.prober.stop_liveness_and_startup(uid);
        self.prober.pod_status(uid)
    }

    /// From now on the pod's status is supplied by a caller, through the prober's inputs, until the pod is forgotten.
    pub fn supply(&mut self, uid: &str) {
        if !self.supplied.contains(uid) {
            self.supplied.insert(uid.into());
        }
    }

    /// The pod is gone: its workers stop, its status and object are dropped.
    pub fn forget_pod(&mut self, uid: &str) {
        self.supplied.remove(uid);
        self.prober.remove_pod(uid);
        self.prober.remove_pod_status(uid);
        self.prober.forget_pod(uid);
    }

    fn store(&mut self, uid: &str, facts: PodStatus) -> Option<()> {
        let pod = Arc::clone(self.prober.pod(uid)?);
        let mut status = self.generate(&pod, facts);
        let argument = self.prober.is_recording().then(|| status.clone());
        self.prober.update_pod_status(uid, &mut status);
        self.prober.record_updated(&pod.uid, argument, &status);
        let old = self.prober.pod_status(uid);
        if old.is_some_and(|old| is_refused(&pod, old, &status)) {
            return Some(());
        }
        let before = old.cloned();
        self.prober.set_pod_status(uid, status);
        if self.prober.pod_status(uid) != before.as_ref() {
            self.prober.record_stored(&pod.uid);
        }
        Some(())
    }

    /// A status in the order of the pod's containers. A container without a fact is Waiting without an ID.
    fn generate(&self, pod: &PodSpec, facts: PodStatus) -> PodStatus {
        let old = self.prober.pod_status(&pod.uid);
        let containers = pod.containers.iter().map(|spec| {
            let fact = facts.named(&spec.name);
            let mut status = ContainerStatus { name: Arc::clone(&spec.name), ..ContainerStatus::default() };
            if let Some(fact) = fact {
                status.id.clone_from(&fact.id);
                status.state = fact.state;
            }
            if status.state.is_running() {
                status.started = self.inherited(old.and_then(|old| old.named(&spec.name)), &status);
            }
            status
        });
        PodStatus {
            containers: containers.collect(),
            regular: pod.regular,
            phase: facts.phase,
            pod_ip: facts.pod_ip,
            all_containers_restarting: facts.all_containers_restarting,
        }
    }

    fn inherited(&self, old: Option<&ContainerStatus>, new: &ContainerStatus) -> Option<bool> {
        match self.prober.semantics().started_inheritance {
            StartedInheritance::None => None,
            StartedInheritance::ByName => old?.started,
            StartedInheritance::ById => old.filter(|old| old.id == new.id)?.started,
        }
    }

    /// Acts on the updates that nobody has acted on.
    fn react(&mut self) {
        if self.glue == Glue::NONE || self.seen == self.prober.output_count() {
            return;
        }
        let fresh: Vec<Update> = self.prober.updates_after(self.seen).cloned().collect();
        for update in fresh.iter().filter(|update| !self.supplied.contains(&*update.pod_uid)) {
            let success = update.result == ProbeResult::Success;
            let (pod, container) = (&update.pod_uid, &update.container_id);
            let wants_sync = match update.probe_type {
                ProbeType::Liveness => update.result == ProbeResult::Failure,
                ProbeType::Readiness if self.glue.readiness => {
                    self.prober.set_container_readiness(pod, container, success);
                    true
                }
                ProbeType::Startup if self.glue.startup => {
                    self.prober.set_container_startup(pod, container, success);
                    true
                }
                ProbeType::Readiness | ProbeType::Startup => true,
            };
            if self.glue.sync && wants_sync {
                self.prober.push_sync(pod);
            }
        }
        self.seen = self.prober.output_count();
    }
}
