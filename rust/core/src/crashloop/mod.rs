//! A model of containers that crash: when each restart happens, by the same start decision as the live manager's.
//!
//! A container is started, runs, ends, and is looked at until the decision lets it start again; a restart is the moment
//! of that. What takes time around it (the exit being noticed, the sync loop) is the [`Scheduler`]'s.

pub mod kubelet;
mod load;
mod restarts;

pub use self::kubelet::{RESYNC, RETRY, TICK, look_again, noticed};
pub use self::load::Load;
pub use self::restarts::{Restart, Restarts, Scene, Scheduler};
