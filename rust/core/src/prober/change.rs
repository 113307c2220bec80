//! Probes that change while their containers run, by the rules of [`model::change`](super::model::change).

use std::sync::Arc;

use super::model::view::View;
use super::model::worker::{Signal, Worker, WorkerPhase};
use super::output::{Output, WorkerId};
use super::state::Prober;
use crate::podstatus::{ContainerStatus, State};
use crate::spec::{PodSpec, ProbeType};
use crate::time::Instant;

impl Prober {
    /// Gives a pod that AddPod has added, and that does not end, the probes of its object as last
    /// [defined](Prober::define_pod). Returns false if no pod with this UID was defined.
    pub fn change_probes(&mut self, uid: &str) -> bool {
        let Some(index) = self.pods.find(uid) else { return false };
        let Some(pod) = self.pods[index].object.clone() else { return false };
        for id in self.pods[index].workers.clone() {
            self.change_worker(id, &pod);
        }
        self.start_new_probes(index, &pod);
        true
    }

    /// A worker whose probe stays only takes the new object.
    fn change_worker(&mut self, id: WorkerId, pod: &Arc<PodSpec>) {
        let worker = &mut self.workers[id];
        if worker.is_stopping() {
            return;
        }
        match place(worker, pod) {
            Some(container) if pod.containers[container].probe(worker.probe_type) == Some(worker.probe()) => {
                worker.take_object(pod, container);
            }
            Some(container) if matches!(worker.phase, WorkerPhase::New | WorkerPhase::Jitter) => {
                // Its first run stays where it is.
                let (delay_is_over, at) = (false, worker.next_tick);
                worker.take_object(pod, container);
                worker.take_probe(delay_is_over, at);
                self.outputs.push_back(Output::ProbeChanged { worker: id });
            }
            _ => self.signal(id, Signal::Change),
        }
    }

    /// Rule 9: begins the workers of probes that the pod did not have.
    fn start_new_probes(&mut self, index: u32, pod: &Arc<PodSpec>) {
        let Some(status) = self.pods[index].status.clone().filter(|status| !status.phase.is_terminal()) else {
            return; // The pod's next AddPod makes them.
        };
        for container in (0..pod.containers.len()).filter(|&container| pod.is_probed(container)) {
            let spec = &pod.containers[container];
            let runs = status.named(&spec.name).filter(|found| found.state.is_running() && !found.id.is_empty());
            for probe_type in ProbeType::ALL {
                if spec.probe(probe_type).is_none() || self.worker(index, &spec.name, probe_type).is_some() {
                    continue;
                }
                if let Some(found) = runs.filter(|found| has_passed(found, probe_type)) {
                    self.recall_success(&pod.uid, probe_type, found);
                }
                self.start_worker(Worker::new(index, pod, container, probe_type, pod.deleting));
            }
        }
    }

    /// Takes a change between two runs, from the pod's object as it is now.
    #[cold]
    #[inline(never)]
    pub(super) fn take_change(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        worker.phase = WorkerPhase::Waiting;
        let Some(pod) = self.pods[worker.pod].object.clone() else {
            self.rest(id, now); // A stop is on its way.
            return;
        };
        let Some(container) = place(worker, &pod) else {
            self.end_worker(id);
            self.push_sync(&pod.uid);
            return;
        };
        let is_delay_over = match worker.view {
            View::Container(seen) if worker.container_key == Some(seen.key) => match seen.state {
                State::Running { started_at_ms: Some(at) } => {
                    self.wall.seconds_since(at, now) >= i64::from(worker.initial_delay_seconds)
                }
                State::Running { started_at_ms: None } => true,
                _ => false,
            },
            _ => false,
        };
        worker.take_object(&pod, container);
        worker.take_probe(is_delay_over, now);
        worker.look_at_pace(now);
        self.outputs.push_back(Output::ProbeChanged { worker: id });
        self.touch(id);
        self.disarm(id);
        self.rest(id, now);
    }
}

impl Worker {
    fn take_object(&mut self, pod: &Arc<PodSpec>, container: usize) {
        (self.object, self.container) = (Arc::clone(pod), container as u32);
        self.refreshed = self.refreshed.wrapping_add(1);
    }
}

/// Where the pod has the worker's probe; None if it has no such probe any more.
fn place(worker: &Worker, pod: &PodSpec) -> Option<usize> {
    let container = pod.index_of(worker.container_name()).filter(|&container| pod.is_probed(container))?;
    pod.containers[container].probe(worker.probe_type).map(|_| container)
}

/// Whether the container is already what a probe of this type finds out.
fn has_passed(container: &ContainerStatus, probe_type: ProbeType) -> bool {
    match probe_type {
        ProbeType::Startup => container.started == Some(true),
        ProbeType::Readiness => container.ready,
        ProbeType::Liveness => false,
    }
}
