//! A model of containers that crash: it computes when each restart happens, with the live manager's own start decision.
//!
//! A container starts, runs and ends, and then waits until the decision lets it start again; that moment is a restart.
//! The [`Scheduler`] adds the time that the kubelet takes around it: to notice the exit, and until its sync loop comes
//! by.

pub mod kubelet;
mod load;
mod restarts;

pub use self::kubelet::{RESYNC, RETRY, TICK, look_again, noticed};
pub use self::load::Load;
pub use self::restarts::{Restart, Restarts, Scene, Scheduler};
