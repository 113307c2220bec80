//! The flight recorder: what really happened to the probes of a node, in a ring of files on disk, so that
//! [`probelet_play::whatif`] can play it again with other settings. [`probelet_play::recording`] says what is in a file.
//!
//! **Laws**
//! 1. The engine's thread appends to a bounded list ([`Pending`]) and never waits. What does not fit is counted as lost,
//!    and the next segment says how much.
//! 2. The ring is as long as the configuration says. The oldest segment goes when a new one would not fit.

mod files;
mod pending;
mod ring;

pub use self::files::read_path;
pub use self::pending::Pending;
pub use self::ring::{Ring, Tally};
