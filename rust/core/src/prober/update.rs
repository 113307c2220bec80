//! Fills `started` and `ready` of a status (kubelet prober/prober_manager.go:UpdatePodStatus, 1.36).

use std::sync::Arc;

use super::model::worker::Signal;
use super::state::Prober;
use crate::podstatus::{ContainerStatus, PodStatus, State};
use crate::results::ProbeResult;
use crate::spec::{PodSpec, ProbeType};

impl Prober {
    /// Fills `started` and `ready` of a status that is about to be stored, and triggers the readiness workers of
    /// started containers that are not ready. Does nothing for a pod that was not defined.
    pub fn update_pod_status(&mut self, uid: &str, status: &mut PodStatus) {
        let Some(pod) = self.pod(uid).map(Arc::clone) else {
            return;
        };
        for position in 0..status.regular.min(status.containers.len()) {
            let container = &mut status.containers[position];
            if self.fill_started(uid, container) {
                self.fill_ready(&pod, container);
            }
        }
        self.update_init_containers(&pod, status);
    }

    fn update_init_containers(&mut self, pod: &PodSpec, status: &mut PodStatus) {
        let regular = status.regular.min(status.containers.len());
        let statuses = &mut status.containers[regular..];
        for container in statuses.iter_mut() {
            self.fill_started(&pod.uid, container);
        }
        for (position, spec) in pod.containers[pod.regular..].iter().enumerate() {
            // The kubelet matches by index and skips a list that is shifted.
            let Some(container) = statuses.get_mut(position).filter(|container| container.name == spec.name) else {
                continue;
            };
            if pod.is_sidecar(pod.regular + position) {
                if container.started == Some(true) {
                    self.fill_ready(pod, container);
                }
            } else if container.state == (State::Terminated { exit_code: 0 }) {
                container.ready = true;
            }
        }
    }

    fn fill_started(&self, uid: &str, container: &mut ContainerStatus) -> bool {
        let started = self.is_started(uid, container);
        container.started = Some(started);
        started
    }

    /// Whether the container has started; the first match decides (prober_manager.go:isContainerStarted, 1.36).
    fn is_started(&self, uid: &str, container: &ContainerStatus) -> bool {
        if !container.state.is_running() {
            return false;
        }
        if let Some(result) = self.known_result(uid, ProbeType::Startup, &container.id) {
            return result == ProbeResult::Success;
        }
        if self.semantics.keeps_status_on_restart() && container.started == Some(true) {
            return true;
        }
        let pod = self.pods.find(uid).expect("the pod is defined");
        self.worker(pod, &container.name, ProbeType::Startup).is_none()
    }

    fn known_result(&self, uid: &str, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        let recalled = self.recalled_result(uid, probe_type, container_id);
        recalled.or_else(|| self.result(probe_type, container_id))
    }

    fn fill_ready(&mut self, pod: &PodSpec, container: &mut ContainerStatus) {
        if !container.state.is_running() {
            container.ready = false;
            return;
        }
        if let Some(result) = self.recalled_result(&pod.uid, ProbeType::Readiness, &container.id) {
            container.ready = result == ProbeResult::Success;
            return;
        }
        let cached = self.result(ProbeType::Readiness, &container.id);
        if cached == Some(ProbeResult::Success) {
            container.ready = true;
            return;
        }
        let index = self.pods.find(&pod.uid).expect("the pod is defined");
        let worker = self.worker(index, &container.name, ProbeType::Readiness);
        container.ready = worker.is_none();
        if let Some(id) = worker {
            self.signal(id, Signal::Trigger);
        }
        if self.semantics.keeps_status_on_restart() && self.is_preexisting(container.state) {
            container.ready |= cached.is_none();
            let probed = pod
                .index_of(&container.name)
                .is_some_and(|index| pod.containers[index].probe(ProbeType::Readiness).is_some());
            container.ready &= !probed || pod.api_ready;
        }
    }
}
