//! The pods a prober knows: their objects, statuses and workers.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::podstatus::PodStatus;
use crate::prober::output::WorkerId;
use crate::slab::Slab;
use crate::spec::{PodSpec, ProbeType};
use crate::time::Instant;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pod {
    uid: Arc<str>,
    pub(crate) object: Option<Arc<PodSpec>>,
    pub(crate) status: Option<PodStatus>,
    pub(crate) workers: Vec<WorkerId>,
    /// The probes that make no attempt for a while; almost always empty.
    pub(crate) pauses: Vec<Pause>,
}

/// A probe that makes no attempt before `until`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) container: Arc<str>,
    pub(crate) probe_type: ProbeType,
    pub(crate) until: Instant,
}

impl Pod {
    /// Whether nobody keeps the pod any more. A kubelet's worker that sleeps through its jitter would find no status
    /// after it, and end; ours ends at once, because a period can be years.
    pub(crate) const fn is_forgotten(&self) -> bool {
        self.object.is_none() && self.status.is_none()
    }

    /// The pause of a probe, which may be over.
    pub(crate) fn pause(&self, container: &str, probe_type: ProbeType) -> Option<&Pause> {
        self.pauses.iter().find(|pause| pause.probe_type == probe_type && *pause.container == *container)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pods {
    pub(crate) by_uid: BTreeMap<Arc<str>, u32>,
    pods: Slab<Pod>,
}

impl Pods {
    pub(crate) const fn new() -> Self {
        Self { by_uid: BTreeMap::new(), pods: Slab::new() }
    }

    pub(crate) fn find(&self, uid: &str) -> Option<u32> {
        self.by_uid.get(uid).copied()
    }

    /// The index of the pod, which is added under `uid` if it is not there.
    pub(crate) fn ensure(&mut self, uid: impl AsRef<str> + Into<Arc<str>>) -> u32 {
        if let Some(index) = self.find(uid.as_ref()) {
            return index;
        }
        let uid: Arc<str> = uid.into();
        let pod = Pod { uid: Arc::clone(&uid), object: None, status: None, workers: Vec::new(), pauses: Vec::new() };
        let index = self.pods.insert(pod);
        self.by_uid.insert(uid, index);
        index
    }

    pub(crate) fn forget_worker(&mut self, index: u32, worker: WorkerId) {
        self.pods[index].workers.retain(|&other| other != worker);
        self.drop_unused(index);
    }

    pub(crate) fn drop_unused(&mut self, index: u32) {
        let pod = &self.pods[index];
        if pod.is_forgotten() && pod.workers.is_empty() {
            let pod = self.pods.remove(index).expect("the pod was read above");
            self.by_uid.remove(&pod.uid);
        }
    }
}

impl Index<u32> for Pods {
    type Output = Pod;

    fn index(&self, index: u32) -> &Pod {
        &self.pods[index]
    }
}

impl IndexMut<u32> for Pods {
    fn index_mut(&mut self, index: u32) -> &mut Pod {
        &mut self.pods[index]
    }
}
