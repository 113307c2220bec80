//! The flight recorder of a live engine: what the engine's thread notes, and the thread that writes it.

mod keeper;
mod known_pods;
mod survey;

pub use self::keeper::RecorderOptions;
pub(super) use self::keeper::{Recorded, RecorderKeeper};
