//! Sets and removes cached results and pushes the outputs that report it.

use std::sync::Arc;

use super::output::{Output, Removal, ResultRecord, Update, WorkerId};
use super::state::Prober;
use crate::results::{ContainerKey, ProbeResult};
use crate::spec::ProbeType;

impl Prober {
    pub(super) fn set_result(&mut self, id: WorkerId, result: ProbeResult) {
        let worker = &self.workers[id];
        let Some(key) = worker.container_key else {
            return;
        };
        let probe_type = worker.probe_type;
        let changed = self.results.set(probe_type, key, result);
        if self.record {
            self.push_record(probe_type, key, Some(result), changed);
        }
        if changed {
            self.touch(id);
            self.outputs.push_back(Output::Update(Update {
                probe_type,
                container_id: Arc::clone(self.results.id(key)),
                pod_uid: Arc::clone(&self.workers[id].object.uid),
                result,
            }));
        }
    }

    pub(super) fn remove_result(&mut self, id: WorkerId, key: ContainerKey) {
        if self.results.is_empty(key) {
            return; // The kubelet removes nothing under an empty ID.
        }
        let probe_type = self.workers[id].probe_type;
        let container_id = Arc::clone(self.results.id(key));
        let changed = self.results.remove(probe_type, key);
        if changed {
            let (container_id, pod_uid) = (Arc::clone(&container_id), Arc::clone(&self.workers[id].object.uid));
            self.outputs.push_back(Output::Removed(Removal { probe_type, container_id, pod_uid }));
        }
        if self.record {
            self.outputs.push_back(Output::Record(ResultRecord { probe_type, container_id, result: None, changed }));
        }
    }

    fn push_record(&mut self, probe_type: ProbeType, key: ContainerKey, result: Option<ProbeResult>, changed: bool) {
        let container_id = Arc::clone(self.results.id(key));
        self.outputs.push_back(Output::Record(ResultRecord { probe_type, container_id, result, changed }));
    }
}
