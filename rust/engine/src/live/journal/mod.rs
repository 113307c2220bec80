//! The journal of a live engine: what the engine's thread notices, and the thread that writes it.

mod gone;
mod keeper;
mod thread;

pub(super) use self::gone::Gone;
pub(super) use self::keeper::JournalKeeper;
pub use self::keeper::JournalOptions;
