//! The production core under a virtual clock with scripted outcomes. Hours in milliseconds, the same every time.
//!
//! Time is counted in milliseconds from t = 0, which lies on a whole second of the wall clock; the prober started
//! `warmup` earlier, so that the jitter of a young kubelet does not apply.
//!
//! `cluster` has containers that answer by a behaviour instead of a script; `together` plays several simulations on one
//! clock with them.

mod answers;
pub mod cluster;
mod handlers;
mod record;
mod recording;
mod script;
mod together;
mod virtual_prober;
mod worker_script;

pub use self::handlers::Handlers;
pub use self::record::Record;
pub use self::script::{Played, Script, Step, decode_steps};
pub use self::together::{Reached, play_together};
pub use self::virtual_prober::{Scene, Simulation, TIME_MS_MAX};
