//! What the status layer may read and change of the prober's outputs and statuses.

use std::sync::Arc;

use super::output::{Output, Update};
use super::state::Prober;
use crate::podstatus::{ContainerStatus, PodStatus};

impl Prober {
    pub(crate) fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// The updates among the outputs, without the first `seen` outputs.
    pub(crate) fn updates_after(&self, seen: usize) -> impl Iterator<Item = &Update> {
        self.outputs.iter().skip(seen).filter_map(|output| match output {
            Output::Update(update) => Some(update),
            _ => None,
        })
    }

    pub(crate) fn push_sync(&mut self, pod_uid: &Arc<str>) {
        self.outputs.push_back(Output::Sync { pod_uid: Arc::clone(pod_uid) });
    }

    /// Pushes [`Output::StatusStored`] with the stored status, if the prober records.
    pub(crate) fn record_stored(&mut self, uid: &Arc<str>) {
        if let Some(status) = self.pod_status(uid).filter(|_| self.record) {
            let status = Box::new(status.clone());
            self.outputs.push_back(Output::StatusStored { pod_uid: Arc::clone(uid), status });
        }
    }

    /// Pushes [`Output::StatusUpdated`]: UpdatePodStatus turned `argument` into `filled`. `argument` is None unless the
    /// prober records.
    pub(crate) fn record_updated(&mut self, uid: &Arc<str>, argument: Option<PodStatus>, filled: &PodStatus) {
        if let Some(argument) = argument {
            let (argument, filled) = (Box::new(argument), Box::new(filled.clone()));
            self.outputs.push_back(Output::StatusUpdated { pod_uid: Arc::clone(uid), argument, filled });
        }
    }

    pub(crate) const fn is_recording(&self) -> bool {
        self.record
    }

    /// SetContainerReadiness: does nothing for a pod without a status, or for an ID that the status does not show.
    pub(crate) fn set_container_readiness(&mut self, uid: &Arc<str>, container_id: &str, ready: bool) {
        let changed = self
            .shown(uid, container_id)
            .is_some_and(|container| std::mem::replace(&mut container.ready, ready) != ready);
        if changed {
            self.record_stored(uid);
        }
    }

    /// SetContainerStartup: does nothing for a pod without a status, or for an ID that the status does not show.
    pub(crate) fn set_container_startup(&mut self, uid: &Arc<str>, container_id: &str, started: bool) {
        let changed =
            self.shown(uid, container_id).is_some_and(|container| container.started.replace(started) != Some(started));
        if changed {
            let pod = self.pods.find(uid).expect("`shown` found the pod's status");
            self.refresh_views(pod);
            self.record_stored(uid);
        }
    }

    fn shown(&mut self, uid: &str, container_id: &str) -> Option<&mut ContainerStatus> {
        let index = self.pods.find(uid)?;
        let status = self.pods[index].status.as_mut()?;
        status.containers.iter_mut().find(|container| *container.id == *container_id)
    }
}
