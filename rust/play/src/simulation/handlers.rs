//! What a simulation does not know of probes over sockets: how to ask, and how the handlers word a silence.

use std::fmt::Debug;

use probelet_core::prober::{AttemptTarget, Outcome};

/// The handlers of probes that are not exec. The engine has the real ones.
pub trait Handlers: Debug + Send + Sync {
    /// Carries out an attempt over a real socket, while the virtual clock stands still.
    fn probe(&self, target: &AttemptTarget<'_>) -> Outcome;

    /// The output of an attempt that nobody answers in time; None for a handler that connects nowhere, and for a port or
    /// URL with which an attempt could not begin.
    fn late_text(&self, target: &AttemptTarget<'_>) -> Option<String>;
}
