//! What a simulation writes down of the core's outputs.

use probelet_core::prober::Output;

use super::record::Record;
use super::virtual_prober::Simulation;
use crate::json::StatusDocument;

impl Simulation {
    pub(super) fn write(&mut self, output: Output) {
        let is_change = match &output {
            Output::Event(_) => !self.repeats_itself,
            Output::Sync { .. } | Output::Update(_) => true,
            _ => false,
        };
        if !(self.record || self.keeps_changes && is_change) {
            return;
        }
        let t_ms = self.to_ms(self.now);
        let record = match output {
            Output::Record(record) => Record::Results {
                t_ms,
                r#type: record.probe_type.name(),
                op: if record.result.is_some() { "set" } else { "remove" },
                container_id: (&*record.container_id).into(),
                result: record.result.map(|result| result.name()),
                changed: record.changed,
            },
            Output::Update(update) => Record::Updates {
                t_ms,
                r#type: update.probe_type.name(),
                pod_uid: (&*update.pod_uid).into(),
                container_id: (&*update.container_id).into(),
                result: update.result.name(),
            },
            Output::Event(event) => Record::Events {
                t_ms,
                pod: self.manager.prober().pod(&event.pod_uid).map_or("".into(), |pod| (&*pod.name).into()),
                pod_uid: (&*event.pod_uid).into(),
                field_path: event.field_path,
                r#type: "Warning",
                reason: event.reason.name(),
                raw: std::str::from_utf8(&event.message).is_err().then(|| event.message.clone()),
                message: String::from_utf8_lossy(&event.message).into_owned(),
            },
            Output::StatusUpdated { pod_uid, argument, filled } => Record::Updated {
                t_ms,
                pod_uid: (&*pod_uid).into(),
                argument: Box::new(StatusDocument::of(None, &argument)),
                filled: Box::new(StatusDocument::of(None, &filled)),
            },
            Output::StatusStored { pod_uid, status } => Record::Stored {
                t_ms,
                pod_uid: (&*pod_uid).into(),
                status: Box::new(StatusDocument::of(None, &status)),
            },
            Output::Sync { pod_uid } => Record::Syncs { t_ms, pod_uid: (&*pod_uid).into() },
            Output::Timer { token } => Record::Timers { t_ms, token },
            Output::Attempt(_)
            | Output::ProbeChanged { .. }
            | Output::Removed(_)
            | Output::RunFinished { .. }
            | Output::WorkerStarted { .. }
            | Output::WorkerEnded { .. } => unreachable!("drained before"),
        };
        self.records.push(record);
    }
}
