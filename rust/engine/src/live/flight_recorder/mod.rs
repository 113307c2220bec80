//! The flight recorder of a live engine: what the engine's thread notes, and the thread that writes it.

mod checkpoint;
mod known_pods;
mod recorder;

pub use self::recorder::RecorderOptions;
pub(super) use self::recorder::{FlightRecorder, Recorded};
