//! The prober: who has probes, when each runs, and what its answers mean (kubelet pkg/kubelet/prober, 1.36).
//!
//! **Law.** Every input carries `now`, which never goes back. An input only changes state; what follows from it happens
//! in [`Prober::settle`], which fires what is due and wakes who was touched, until nothing is left to do at `now`. So
//! inputs that arrive together are seen together. After settling, [`Prober::poll_output`] is drained until it is empty.
//! Same inputs, same outputs, byte for byte.
//!
//! It takes a *supplied* status: whoever drives it says what a pod's status is, and keeps it.

mod attempt;
mod glue;
mod manager;
mod model;
mod output;
mod publish;
mod recall;
mod run;
mod settle;
mod snapshot;
mod state;
mod ticks;
mod update;

pub use self::attempt::{ATTEMPTS_PER_RUN, AttemptTarget};
pub use self::model::memory::Memory;
pub use self::model::phasing::Phasing;
pub use self::output::{Attempt, Event, Outcome, Output, Reason, Removal, ResultRecord, Streak, Update, WorkerId};
pub use self::snapshot::WorkerState;
pub use self::state::{Prober, Settings};
