//! The prober: which containers have probes, when each probe runs, and what its answers mean (kubelet
//! pkg/kubelet/prober, 1.36).
//!
//! **Law.** Every input carries `now`, which never goes back. An input only changes state. [`Prober::settle`] does what
//! follows from it: it fires due timers and wakes the workers that inputs touched, until nothing is left to do at
//! `now`. So workers see all inputs of one moment together. After settling, the driver drains [`Prober::poll_output`]
//! until it is empty. The same inputs give the same outputs, byte for byte.
//!
//! The prober takes a *supplied* status: its driver says what a pod's status is, and keeps it.

mod attempt;
mod change;
mod manager;
mod model;
mod output;
mod publish;
mod recall;
mod run;
mod settle;
mod snapshot;
mod state;
mod status_access;
mod ticks;
mod update;

pub use self::attempt::{ATTEMPTS_PER_RUN, AttemptTarget};
pub use self::model::budget::ExtraRuns;
pub use self::model::memory::Memory;
pub use self::model::phasing::Phasing;
pub use self::output::{Attempt, Event, Outcome, Output, Reason, Removal, ResultRecord, Streak, Update, WorkerId};
pub use self::snapshot::WorkerState;
pub use self::state::{Prober, Settings};
