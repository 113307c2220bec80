//! What a pod's owner called, as the recorder gets it.

use super::entry::{Call, Facts};
use super::pod::PodRecord;
use super::status::StatusRecord;
use probelet_core::podstatus::PodStatus;
use probelet_core::spec::PodSpec;

/// A call of a pod's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// CleanupPods with the UIDs that stay.
    Cleanup(Vec<Box<str>>),
    /// A pod was defined.
    Defined(Box<PodRecord>),
    /// Any other call.
    Called {
        /// The pod's UID.
        uid: Box<str>,
        /// The call.
        call: Call,
    },
}

impl Note {
    /// A pod was defined.
    pub fn defined(pod: &PodSpec) -> Self {
        Self::Defined(Box::new(PodRecord::of(pod)))
    }

    /// A call without facts.
    pub fn called(uid: &str, call: Call) -> Self {
        Self::Called { uid: uid.into(), call }
    }

    /// A call with facts or a status.
    pub fn told(uid: &str, call: fn(Facts) -> Call, status: &PodStatus) -> Self {
        Self::called(uid, call(Facts::New(StatusRecord::of(status))))
    }
}
