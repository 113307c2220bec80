//! The live engine: the core driven by the system's clocks on a thread of its own, which also owns the sockets.
//!
//! One thread does both scheduling and I/O, because a hand-over between two threads would cost more than the work it
//! hands over. Callers share the core's state with it under one lock, which no thread holds across I/O. Changes for
//! the callers collect in a [`Mailbox`].

mod attempts;
mod backoff_table;
mod batch;
mod direct;
mod disk;
mod driver;
mod engine;
mod exec;
mod flight_recorder;
mod hand_out;
mod journal;
mod mailbox;
mod metrics;
mod starvation_log;
mod state;
mod suspects;
#[cfg(test)]
mod tests;
mod time;
mod turn;
mod worker_states;

pub use self::backoff_table::BackoffTable;
pub use self::batch::{Batch, Change, Notice};
pub use self::direct::{HelperProcess, read_hello};
pub use self::engine::{Engine, Options};
pub use self::exec::{EnteredExec, ExecAttempt, ExecEnd, Refusal};
pub use self::flight_recorder::RecorderOptions;
pub use self::journal::JournalOptions;
pub use self::mailbox::Mailbox;
pub use self::suspects::{SuspectAnswer, Word};
pub use self::turn::Turn;
