//! A caller's inputs about its pods (kubelet prober/prober_manager.go, 1.36).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::model::pods::Pause;
use super::model::view::View;
use super::model::worker::{Signal, Worker};
use super::output::{Output, WorkerId};
use super::state::Prober;
use crate::podstatus::PodStatus;
use crate::results::ProbeResult;
use crate::semantics::{ExistingWorker, Semantics};
use crate::spec::{PodSpec, ProbeType};
use crate::time::Instant;

impl Prober {
    /// Stores a pod's object, which UpdatePodStatus and AddPod find by UID. Running workers keep the object they were
    /// made with.
    pub fn define_pod(&mut self, pod: Arc<PodSpec>) {
        let index = self.pods.ensure(Arc::clone(&pod.uid));
        self.pods[index].object = Some(pod);
    }

    /// The pod's object as [`Prober::define_pod`] last stored it.
    pub fn pod(&self, uid: &str) -> Option<&Arc<PodSpec>> {
        self.pods[self.pods.find(uid)?].object.as_ref()
    }

    /// AddPod: creates a worker for every probe of the pod that has none. Containers come first, then sidecars; for
    /// each the order is startup, readiness, liveness. Returns false if no pod with this UID was defined.
    ///
    /// Several new workers run in the order of [`Prober::queue`]: the last one made, then the others.
    pub fn add_pod(&mut self, uid: &str) -> bool {
        let Some(index) = self.pods.find(uid) else {
            return false;
        };
        let Some(pod) = self.pods[index].object.clone() else {
            return false;
        };
        'containers: for container in (0..pod.containers.len()).filter(|&container| pod.is_probed(container)) {
            for probe_type in ProbeType::ALL {
                if pod.containers[container].probe(probe_type).is_none() {
                    continue;
                }
                if self.worker(index, &pod.containers[container].name, probe_type).is_some() {
                    match self.semantics.existing_worker {
                        ExistingWorker::AbortCall => break 'containers,
                        ExistingWorker::SkipContainer => continue 'containers,
                    }
                }
                self.start_worker(Worker::new(index, &pod, container, probe_type, pod.deleting));
            }
        }
        true
    }

    pub(super) fn start_worker(&mut self, worker: Worker) {
        let pod = worker.pod;
        let id = self.workers.insert(worker);
        self.pods[pod].workers.push(id);
        self.refresh_view(id);
        self.outputs.push_back(Output::WorkerStarted { worker: id });
        self.queue(id);
    }

    /// RemovePod: stops every worker of the pod.
    pub fn remove_pod(&mut self, uid: &str) {
        self.stop_workers(uid, |_| true);
    }

    /// Stops the liveness and startup workers, as the first step of a pod's termination; liveness workers only where
    /// `deletion_ends_liveness` says so.
    pub fn stop_liveness_and_startup(&mut self, uid: &str) {
        let Semantics { stop_covers_sidecars, deletion_ends_liveness, .. } = self.semantics;
        self.stop_workers(uid, |worker| {
            let regular = (worker.container as usize) < worker.object.regular;
            let ends = match worker.probe_type {
                ProbeType::Liveness => deletion_ends_liveness,
                ProbeType::Readiness => false,
                ProbeType::Startup => true,
            };
            ends && (regular || stop_covers_sidecars)
        });
    }

    /// Lets a probe make no attempt before `until`, and keep its result meanwhile; an attempt in flight ends as usual. An
    /// `until` that is not after `now` ends the pause. Returns false if no pod with this UID was defined.
    pub fn pause(&mut self, uid: &str, container: &str, probe_type: ProbeType, until: Instant, now: Instant) -> bool {
        let Some(index) = self.pods.find(uid).filter(|&index| self.pods[index].object.is_some()) else {
            return false;
        };
        let pauses = &mut self.pods[index].pauses;
        pauses.retain(|pause| pause.until > now && (pause.probe_type != probe_type || *pause.container != *container));
        if until > now {
            pauses.push(Pause { container: container.into(), probe_type, until });
        }
        self.refresh_views(index);
        true
    }

    /// Takes a container's liveness failure back, for a caller that lets its kill wait: the result becomes Unknown, and the
    /// probe goes on. Its next failed run is a Failure again, and its next success a Success. Returns false, and changes
    /// nothing, if no liveness probe of the container rests after a failure.
    pub fn recheck(&mut self, uid: &str, container: &str) -> bool {
        let found = self.pods.find(uid).and_then(|pod| self.worker(pod, container, ProbeType::Liveness));
        let Some(id) = found.filter(|&id| self.workers[id].on_hold) else {
            return false;
        };
        self.workers[id].stand_before_failure();
        self.set_result(id, ProbeResult::Unknown);
        self.touch(id);
        true
    }

    /// CleanupPods: stops the workers of every pod whose UID is not in `desired`.
    pub fn cleanup_pods(&mut self, desired: &BTreeSet<&str>) {
        let undesired: Vec<Arc<str>> =
            self.pods.by_uid.keys().filter(|uid| !desired.contains(uid.as_ref())).map(Arc::clone).collect();
        for uid in undesired {
            self.remove_pod(&uid);
        }
    }

    /// Drops the pod's object. Nothing of the pod is left once its status is removed and its workers have ended.
    pub fn forget_pod(&mut self, uid: &str) {
        self.forget_recalled_of(uid);
        if let Some(index) = self.pods.find(uid) {
            self.pods[index].object = None;
            self.pods[index].pauses.clear();
            self.refresh_views(index);
            self.wake_sleepers_of_a_forgotten_pod(index);
            self.pods.drop_unused(index);
        }
    }

    /// Sets `deletionTimestamp` on the object that the pod's workers hold, for a caller that keeps one object per pod.
    /// The kubelet's workers never see the timestamp, because the kubelet passes copies.
    pub fn mark_deleting(&mut self, uid: &str) {
        let Some(index) = self.pods.find(uid) else {
            return;
        };
        for position in 0..self.pods[index].workers.len() {
            let id = self.pods[index].workers[position];
            self.workers[id].deleting = true;
        }
    }

    /// Replaces the pod's status.
    pub fn set_pod_status(&mut self, uid: &str, mut status: PodStatus) {
        for container in &mut status.containers {
            container.state = container.state.cut_to_seconds();
            container.key = (!container.id.is_empty()).then(|| self.results.hold(&mut container.id));
        }
        let index = self.pods.ensure(uid);
        let old = self.pods[index].status.replace(status);
        self.refresh_views(index);
        self.release_status(old);
    }

    /// Removes the pod's status.
    pub fn remove_pod_status(&mut self, uid: &str) {
        if let Some(index) = self.pods.find(uid) {
            let old = self.pods[index].status.take();
            self.refresh_views(index);
            self.release_status(old);
            self.wake_sleepers_of_a_forgotten_pod(index);
            self.pods.drop_unused(index);
        }
    }

    /// The pod's status as the caller supplied it.
    pub fn pod_status(&self, uid: &str) -> Option<&PodStatus> {
        self.pods[self.pods.find(uid)?].status.as_ref()
    }

    pub(super) fn worker(&self, pod: u32, container: &str, probe_type: ProbeType) -> Option<WorkerId> {
        self.pods[pod].workers.iter().copied().find(|&id| {
            let worker = &self.workers[id];
            worker.probe_type == probe_type && **worker.container_name() == *container
        })
    }

    /// Refreshes what the pod's workers see, after its status or its pauses have changed.
    pub(super) fn refresh_views(&mut self, pod: u32) {
        for position in 0..self.pods[pod].workers.len() {
            self.refresh_view(self.pods[pod].workers[position]);
        }
    }

    fn refresh_view(&mut self, id: WorkerId) {
        let worker = &mut self.workers[id];
        let pod = &self.pods[worker.pod];
        let before = worker.view;
        worker.view = View::of(pod.status.as_ref(), worker.container_name());
        worker.refreshed = worker.refreshed.wrapping_add(1);
        worker.has_pause = pod.pause(worker.container_name(), worker.probe_type).is_some();
        if worker.looks_at_once(before) {
            self.signal(id, Signal::Trigger);
        }
    }

    fn stop_workers(&mut self, uid: &str, which: impl Fn(&Worker) -> bool) {
        let Some(index) = self.pods.find(uid) else {
            return;
        };
        for position in 0..self.pods[index].workers.len() {
            let id = self.pods[index].workers[position];
            if which(&self.workers[id]) {
                self.signal(id, Signal::Stop);
            }
        }
    }

    fn release_status(&mut self, status: Option<PodStatus>) {
        for key in status.into_iter().flat_map(|status| status.containers).filter_map(|container| container.key) {
            self.results.release(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::podstatus::{ContainerStatus, State};
    use crate::prober::Settings;

    #[test]
    fn a_stored_status_that_comes_back_without_its_id_holds_nothing() {
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        let containers = vec![ContainerStatus::new("c".into(), "c://1".into(), State::Waiting)];
        prober.set_pod_status("u", PodStatus { containers, ..PodStatus::default() });
        let mut status = prober.pod_status("u").cloned().expect("it was stored");
        status.containers[0].id = "".into();
        prober.set_pod_status("u", status);
        prober.remove_pod_status("u");
        assert_eq!(prober.results.find("c://1"), None);
    }
}
