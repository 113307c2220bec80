//! What a worker keeps for the opt-ins of its probe ([`ProbeOptions`]). A worker without them has none of this.

use serde::{Deserialize, Serialize};

use crate::options::ProbeOptions;
use crate::time::Instant;

/// The options of a worker's probe, and what was counted for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opted {
    pub(crate) options: ProbeOptions,
    /// The last runs, the latest in the lowest bit. A bit is set if its run failed.
    pub(crate) window: u64,
    /// Prober errors in a row; saturates at [`ProbeOptions::failure_after_errors`].
    pub(crate) errors: i32,
    /// When the next extra run is due.
    pub(crate) extra: Option<Instant>,
    /// Whether that moment is one of the budget's.
    pub(crate) is_granted: bool,
    /// Whether the run in flight is an extra one.
    pub(crate) is_extra: bool,
    /// When a container that is not probed yet will be.
    pub(crate) looks_at: Option<Instant>,
}

impl Opted {
    pub(crate) fn new(options: ProbeOptions) -> Box<Self> {
        Box::new(Self {
            options,
            window: 0,
            errors: 0,
            extra: None,
            is_granted: false,
            is_extra: false,
            looks_at: None,
        })
    }
}
