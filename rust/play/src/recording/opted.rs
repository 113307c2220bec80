//! The opt-ins of probes in a recording. They stand beside the records that every pod has, so that the bytes of a pod
//! without them are those of earlier releases.

use probelet_core::options::ProbeOptions;
use probelet_core::spec::ProbeType;
use serde::{Deserialize, Serialize};

use super::pod::PodRecord;

/// A probe with opt-ins, and what its worker counted for them: 0 in the definition of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptedProbe {
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// What the pod asks for.
    pub options: ProbeOptions,
    /// [`probelet_core::prober::Memory::window`].
    pub window: u64,
    /// [`probelet_core::prober::Memory::errors`].
    pub errors: i32,
}

impl OptedProbe {
    pub(super) fn is_of(&self, container: &str, probe_type: ProbeType) -> bool {
        *self.container == *container && self.probe_type == probe_type
    }
}

impl PodRecord {
    /// The probes with opt-ins.
    pub(super) fn opted(&self) -> Vec<OptedProbe> {
        let mut found = Vec::new();
        for container in &self.containers {
            for probe_type in ProbeType::ALL {
                let options = container.probes[probe_type as usize].and_then(|probe| probe.options);
                found.extend(options.map(|options| OptedProbe {
                    container: container.name.clone(),
                    probe_type,
                    options,
                    window: 0,
                    errors: 0,
                }));
            }
        }
        found
    }

    /// The record with the opt-ins that stood beside it.
    pub(super) fn with_opted(mut self, opted: &[OptedProbe]) -> Self {
        for container in &mut self.containers {
            for probe_type in ProbeType::ALL {
                let probe = opted.iter().find(|probe| probe.is_of(&container.name, probe_type));
                if let (Some(record), Some(probe)) = (&mut container.probes[probe_type as usize], probe) {
                    record.options = Some(probe.options);
                }
            }
        }
        self
    }
}
