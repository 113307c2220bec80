//! Another setting of probes.

use probelet_core::spec::ProbeType;

use crate::recording::{PodRecord, ProbeRecord};

/// Another probe of a container; None for no probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The probe from now on.
    pub probe: Option<ProbeRecord>,
}

/// A pod with other probes.
pub(super) fn changed(record: &PodRecord, changes: &[Change]) -> PodRecord {
    let mut record = record.clone();
    for change in changes {
        for container in record.containers.iter_mut().filter(|container| container.name == change.container) {
            container.probes[change.probe_type as usize] = change.probe;
        }
    }
    record
}
