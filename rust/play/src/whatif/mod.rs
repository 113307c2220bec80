//! What would have happened: plays a recording through the production core with other settings of its probes.
//!
//! **Laws**
//! 1. Inputs are what the recording has: the calls of each pod's owner at their times. Only a sync that the kubelet
//!    would make because of a result, and that nobody made because in reality there was no such result, is added.
//! 2. With the recorded settings a play gives the recorded results at the recorded times. A result that no attempt
//!    brings, such as a container's first one, comes when its run was due, and not when the prober came to it.
//! 3. An attempt is answered by [`Answers`], from the recorded attempts of that container and type; what no attempt tells
//!    is unknown, and a play answers it as its caller says ([`Assumption`]). Two plays with both assumptions show what is
//!    known: what they agree on.
//! 4. A container's life is played from its real start to its real end. What a restart that did not happen in reality
//!    would have changed later, or one that did, is not carried over to the next life.
//!
//! Pods do not depend on each other in a prober, so each pod is played alone.

mod answers;
mod change;
mod document;
mod lives;
mod play;
mod player;
mod seen;
mod turns;

pub use self::answers::{Answers, Assumption, Counts};
pub use self::change::Change;
pub use self::document::{decode_changes, describe, played};
pub use self::lives::{Kill, Lives};
pub use self::play::{Played, play};
pub use self::turns::turned;
