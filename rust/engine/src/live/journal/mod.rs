//! The journal of a live engine: what the engine's thread notices, and the thread that writes it.

mod gone;
mod sync;
mod thread;

pub(super) use self::gone::Gone;
pub use self::sync::JournalOptions;
pub(super) use self::sync::JournalSync;
