//! What a worker remembers of its last attempts: 64 of them packed into four bytes each, and the last four that went
//! badly with their text.
//!
//! **What a packed attempt tells.** Outcome and cause are exact. The other values are floating-point numbers of a few
//! bits:
//!
//! | value | bits | precision | longest |
//! |---|---|---|---|
//! | when it ended | 10 | too early by up to 16 ms and 1/64 of the time since the attempt before | 9 hours |
//! | how long it took | 8 | 1/16 of itself | 4 hours |
//! | how late it began | 7 | 1/8 of itself | 2 hours |
//!
//! A longer value reads as the longest. The time of an attempt is kept as the distance from the attempt before. The
//! distance is taken from the time that the code of that attempt gives, so the errors do not add up: each attempt has
//! its own error alone. After a distance of more than nine hours, and after a wall clock that was set back, the new
//! attempt has its true time, and all attempts before it move with it.
//!
//! **Whose attempts.** A history belongs to a probe of a container of a pod, not to an instance of the container: after a
//! restart the attempts of the former instance are still there, because they say why it was restarted.

mod attempt;
mod code;
mod record;
mod ring;
#[cfg(test)]
mod tests;

pub use self::attempt::{OutcomeKind, PastAttempt, PastFailure, TEXT_BYTES_MAX, shown};
pub use self::record::HistoryRecord;
pub use self::ring::{ATTEMPTS, FAILURES, History, TURNS_OF_A_RUN, is_turn};
