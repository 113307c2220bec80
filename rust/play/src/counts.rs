//! How the runs of a worker ended, in numbers.

use probelet_core::prober::AttemptTarget;
use probelet_core::results::ProbeResult;
use serde_json::json;

/// How many runs of a worker ended with each result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Runs that ended well.
    pub successful: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that ended in a prober error; no kubelet metric counts them.
    pub errors: u64,
}

impl Counts {
    /// A run ended.
    pub const fn count(&mut self, result: Option<ProbeResult>) {
        match result {
            None => self.errors += 1,
            Some(ProbeResult::Success) => self.successful += 1,
            Some(ProbeResult::Failure | ProbeResult::Unknown) => self.failed += 1,
        }
    }

    /// The counts with the labels of their worker.
    pub fn to_json(self, target: &AttemptTarget<'_>) -> serde_json::Value {
        json!({
            "probe_type": target.probe_type.title(), "container": &*target.container().name, "pod": &*target.pod.name,
            "namespace": &*target.pod.namespace, "pod_uid": &*target.pod.uid,
            "successful": self.successful, "failed": self.failed, "errors": self.errors,
        })
    }
}
