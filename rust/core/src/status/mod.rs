//! The kubelet's handling of results and status (kubelet.go:syncLoopIteration and status/status_manager.go, 1.36).
//!
//! This layer on top of the prober is for callers that let probelet keep the status. Results set `ready` and `started`
//! of the stored status and ask for a sync. A sync builds the status anew from the runtime's facts and hands it to the
//! prober. The law is the prober's: inputs change state, [`StatusManager::settle`] does what follows, and the driver
//! drains the outputs.

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

/// Which results this layer acts on. A caller that keeps the status itself needs none of it.
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
    /// All of it, as in the kubelet.
    pub const KUBELET: Self = Self { readiness: true, startup: true, sync: true };
    /// None of it: the caller supplies the status.
    pub const NONE: Self = Self { readiness: false, startup: false, sync: false };
}

/// The prober with the kubelet's status handling on top.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatusManager {
    prober: Prober,
    glue: Glue,
    /// Pods whose status a caller supplies, as with [`Glue::NONE`]: the caller acts on their results.
    supplied: BTreeSet<Box<str>>,
    /// How many of the waiting outputs this layer has acted on.
    seen: usize,
}

impl StatusManager {
    /// Puts the status layer on top of a prober.
    pub const fn new(prober: Prober, glue: Glue) -> Self {
        Self { prober, glue, supplied: BTreeSet::new(), seen: 0 }
    }

    /// The prober below.
    pub const fn prober(&self) -> &Prober {
        &self.prober
    }

    /// The prober below. A caller may use its inputs, but must settle and drain through this type.
    pub const fn prober_mut(&mut self) -> &mut Prober {
        &mut self.prober
    }

    /// Does everything that is due at `now`. The layer acts on a result before the prober wakes the next worker, as in
    /// the kubelet, whose consumer of updates runs beside the workers.
    pub fn settle(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Does what inputs have caused, and fires no timer. A driver that lets timers wait for each other calls this between
    /// two calls of [`StatusManager::settle`].
    pub fn settle_inputs(&mut self, now: Instant) {
        self.react();
        while self.prober.step_inputs(now) {
            self.react();
        }
    }

    /// Does one thing that is due at `now`; returns false if nothing is due.
    pub fn step(&mut self, now: Instant) -> bool {
        self.react();
        self.prober.step(now)
    }

    /// The next output for the driver.
    pub fn poll_output(&mut self) -> Option<Output> {
        // The driver must not see a result before this layer has acted on it.
        if self.seen == 0 {
            self.react();
        }
        self.seen = self.seen.saturating_sub(1);
        self.prober.poll_output()
    }

    /// SyncPod: makes a status from the runtime's facts, then does UpdatePodStatus, SetPodStatus and AddPod. `facts`
    /// names containers in any order, with neither `ready` nor `started`. Returns None if the pod was not defined.
    pub fn sync_pod(&mut self, uid: &str, facts: PodStatus) -> Option<&PodStatus> {
        self.store(uid, facts)?;
        if !self.prober.pod_status(uid)?.phase.is_terminal() {
            self.prober.add_pod(uid);
        }
        self.prober.pod_status(uid)
    }

    /// SyncTerminatingPod: does as [`StatusManager::sync_pod`], but stops liveness and startup and adds no worker.
    pub fn sync_terminating_pod(&mut self, uid: &str, facts: PodStatus) -> Option<&PodStatus> {
        self.store(uid, facts)?;
        self.prober.stop_liveness_and_startup(uid);
        self.prober.pod_status(uid)
    }

    /// SyncTerminatedPod: does as [`StatusManager::sync_pod`], but neither adds nor stops a worker.
    pub fn sync_terminated_pod(&mut self, uid: &str, facts: PodStatus) -> Option<&PodStatus> {
        self.store(uid, facts)?;
        self.prober.pod_status(uid)
    }

    /// Lets a caller supply the pod's status from now on, through the prober's inputs, until the pod is forgotten.
    pub fn supply(&mut self, uid: &str) {
        if !self.supplied.contains(uid) {
            self.supplied.insert(uid.into());
        }
    }

    /// Forgets a pod that is gone: stops its workers and drops its status and object.
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
        if old.is_some_and(|old| is_refused(self.prober.semantics(), &pod, old, &status)) {
            return Some(());
        }
        let before = old.cloned();
        self.prober.set_pod_status(uid, status);
        if self.prober.pod_status(uid) != before.as_ref() {
            self.prober.record_stored(&pod.uid);
        }
        Some(())
    }

    /// Builds a status with the containers in the pod's order. A container without a fact is Waiting without an ID.
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

    /// Acts on the updates that this layer has not acted on yet.
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
