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
            let probe = &mut container.probes[change.probe_type as usize];
            // A change is one of the numbers; the opt-ins stay.
            let options = probe.and_then(|probe| probe.options);
            *probe = change.probe.map(|changed| ProbeRecord { options, ..changed });
        }
    }
    record
}
