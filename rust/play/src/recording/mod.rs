//! A recording: what the flight recorder of a node noted, as bytes and as what they mean. The engine writes and reads the
//! files; nothing here opens one.
//!
//! **What is in it.** Every attempt's end: when it was due, when it began and ended, outcome and cause. Every call of a
//! pod's owner (a sync with the runtime's facts, a status, a removal), from which container starts and exits follow.
//! Every result that was published. The pods' probes, without paths, headers and commands: these may hold secrets, and
//! nobody needs them to count.
//!
//! **Laws**
//! 1. A *segment* is a file. It begins with a [`Start`]: node, engine, clock, rules, and whether it continues the segment
//!    before it without a loss. After it the engine writes the state of every pod ([`PodState`]), a few pods at a time.
//!    From there on a pod's entries can be played, so any kept suffix of the ring can be read.
//! 2. A segment is a row of *blocks*, each in a frame with a checksum and with a number that counts from 1. A block can be
//!    read with those before it in its segment, and no other.
//! 3. A segment that ends in the middle of a block was cut by a kill: everything before counts. Any other damage is one
//!    error with its file and byte, and nothing is believed.
//! 4. Times are microseconds of the engine's clock; the start record has the wall clock's offset.
//!
//! **The bytes of a block**: its number, then entries. An attempt is a tag (three bits outcome, five bits cause), the
//! worker, and three differences: of the moment it was due from the moment the worker's rhythm foretells (usually 0), of
//! its beginning from that moment, of its end from its beginning; all varints. Any other entry is a tag, the difference of
//! its time from the one before, its length, and itself ([`postcard`]).

mod block;
mod entry;
mod gather;
mod note;
mod opted;
mod opted_entry;
mod pod;
mod reader;
mod segment;
mod status;
mod stretch;
mod varint;

pub use self::block::{Encoder, PIECE_BYTES};
pub use self::entry::{Attempt, Call, End, Entry, Event, Facts, PauseRecord, PodState, WorkerState};
pub use self::note::Note;
pub use self::opted::OptedProbe;
pub use self::pod::{ContainerDefinition, HandlerKind, PodRecord, ProbeRecord};
pub use self::reader::{ReadError, Reader, Recording, read_files};
pub use self::segment::{Start, file_name, number_of};
pub use self::status::{ContainerRecord, StatusRecord};
pub use self::stretch::{Begun, Input, PodLog, Published, Stretch, Told};
