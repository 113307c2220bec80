//! The flight recorder: what really happened to the probes of a node, in a ring of files on disk, so that `whatif` can
//! play it again with other settings.
//!
//! **What is in it.** Every attempt's end: when it was due, when it began and ended, outcome and cause. Every call of a
//! pod's owner (a sync with the runtime's facts, a status, a removal), from which container starts and exits follow.
//! Every result that was published. The pods' probes, without paths, headers and commands: these may hold secrets, and
//! nobody needs them to count.
//!
//! **Laws**
//! 1. The engine's thread appends to a bounded list ([`Pending`]) and never waits. What does not fit is counted as lost,
//!    and the next segment says how much.
//! 2. A *segment* is a file. It begins with a [`Start`]: node, engine, clock, rules, and whether it continues the segment
//!    before it without a loss. After it the engine writes the state of every pod ([`PodState`]), a few pods at a time.
//!    From there on a pod's entries can be played, so any kept suffix of the ring can be read.
//! 3. A segment is a row of *blocks*, each in a frame with a checksum and with a number that counts from 1. A block can be
//!    read with those before it in its segment, and no other.
//! 4. A segment that ends in the middle of a block was cut by a kill: everything before counts. Any other damage is one
//!    error with its file and byte, and nothing is believed.
//! 5. Times are microseconds of the engine's clock; the start record has the wall clock's offset.
//!
//! **The bytes of a block**: its number, then entries. An attempt is a tag (three bits outcome, five bits cause), the
//! worker, and three differences: of the moment it was due from the moment the worker's rhythm foretells (usually 0), of
//! its beginning from that moment, of its end from its beginning; all varints. Any other entry is a tag, the difference of
//! its time from the one before, its length, and itself ([`postcard`]).
//!
//! The ring is as long as the configuration says. The oldest segment goes when a new one would not fit.

mod block;
mod entry;
mod note;
mod pending;
mod pod;
mod reading;
mod ring;
mod segment;
mod status;
mod varint;

#[cfg(feature = "fuzzing")]
pub use self::block::bytes_of;
pub use self::entry::{Attempt, Call, End, Entry, Event, Facts, PauseRecord, PodState, WorkerState};
pub use self::note::Note;
pub use self::pending::Pending;
pub use self::pod::{ContainerDefinition, HandlerKind, PodRecord, ProbeRecord};
pub use self::reading::{Begun, Input, PodLog, Published, ReadError, Recording, Stretch, Told, read_files, read_path};
pub use self::ring::{Ring, Tally};
pub use self::segment::Start;
pub use self::status::{ContainerRecord, StatusRecord};
