//! The bytes of a block. [`super`] says what they mean.

use std::collections::BTreeMap;

use super::entry::{Attempt, End, Entry, Event};
use super::segment::Start;
use super::varint::{put, put_signed, take, take_signed};
use crate::cause::Cause;

/// A block's piece has at most this many bytes; an entry that is longer is not written.
pub(super) const PIECE_BYTES_MAX: usize = 2 << 20;

/// A block is closed once it has this many bytes, so that damage costs little and an entry of any allowed length fits.
pub const PIECE_BYTES: usize = 256 << 10;

/// An event has at most this many bytes: a pod of a thousand containers has a tenth of it.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// What writer and reader know of a segment so far.
#[derive(Debug, Default)]
struct Known {
    /// The number of the last block.
    block: u64,
    /// The time of the last event.
    event_us: u64,
    rhythms: BTreeMap<u32, Rhythm>,
}

/// When a worker was due, and how long after the time before.
#[derive(Clone, Copy, Debug)]
struct Rhythm {
    last_us: u64,
    step_us: u64,
}

impl Known {
    fn of(start: &Start) -> Self {
        Self { event_us: start.at_us, ..Self::default() }
    }

    /// The worker's rhythm, which begins with the last event.
    fn rhythm(&mut self, worker: u32) -> &mut Rhythm {
        let begins = Rhythm { last_us: self.event_us, step_us: 0 };
        self.rhythms.entry(worker).or_insert(begins)
    }
}

impl Rhythm {
    /// When the worker should be due next.
    const fn foretold(self) -> u64 {
        self.last_us.wrapping_add(self.step_us)
    }

    /// The worker was due.
    const fn due(&mut self, at_us: u64) {
        *self = Self { last_us: at_us, step_us: at_us.wrapping_sub(self.last_us) };
    }
}

/// Writes the blocks of one segment.
#[derive(Debug)]
pub struct Encoder {
    known: Known,
    piece: Vec<u8>,
}

impl Encoder {
    /// The writer of the segment that begins so.
    pub fn new(start: &Start) -> Self {
        Self { known: Known::of(start), piece: Vec::new() }
    }

    /// Adds an entry to the block; returns false for one that is too long.
    pub fn add(&mut self, entry: &Entry) -> bool {
        if self.piece.is_empty() {
            self.known.block += 1;
            put(&mut self.piece, self.known.block);
        }
        match entry {
            Entry::Attempt(attempt) => {
                self.attempt(attempt);
                true
            }
            Entry::Event { at_us, event } => self.event(*at_us, event),
            Entry::Segment(_) => unreachable!("a segment has an encoder of its own"),
        }
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let Attempt { worker, end, cause, scheduled_us, began_us, ended_us } = *attempt;
        self.piece.push((end as u8) << CAUSE_BITS | cause as u8);
        put(&mut self.piece, worker.into());
        let rhythm = self.known.rhythm(worker);
        put_signed(&mut self.piece, scheduled_us.wrapping_sub(rhythm.foretold()) as i64);
        rhythm.due(scheduled_us);
        put(&mut self.piece, began_us.saturating_sub(scheduled_us));
        put(&mut self.piece, ended_us.saturating_sub(began_us.max(scheduled_us)));
    }

    fn event(&mut self, at_us: u64, event: &Event) -> bool {
        let bytes = postcard::to_stdvec(event).expect("plain data");
        if bytes.len() > EVENT_BYTES_MAX {
            return false;
        }
        self.piece.push(EVENT);
        put_signed(&mut self.piece, at_us.wrapping_sub(self.known.event_us) as i64);
        self.known.event_us = at_us;
        put(&mut self.piece, bytes.len() as u64);
        self.piece.extend(bytes);
        true
    }

    /// The block so far, and how long it is.
    pub fn piece(&self) -> &[u8] {
        &self.piece
    }

    /// Begins the next block.
    pub fn next(&mut self) {
        self.piece.clear();
    }
}

/// Reads the blocks of one segment.
#[derive(Debug)]
pub(super) struct Decoder {
    known: Known,
    causes: Vec<Cause>,
}

impl Decoder {
    /// # Errors
    /// The segment has a cause that this version does not know.
    pub(super) fn new(start: &Start) -> Result<Self, String> {
        let cause = |name: &str| {
            let found = Cause::ALL.into_iter().find(|cause| cause.name() == name);
            found.ok_or_else(|| format!("this version knows no cause {name:?}"))
        };
        let causes = start.causes.iter().map(|name| cause(name)).collect::<Result<_, _>>()?;
        Ok(Self { known: Known::of(start), causes })
    }

    /// Reads a block's entries.
    ///
    /// # Errors
    /// What is wrong with the block.
    pub(super) fn block(&mut self, mut bytes: &[u8], mut each: impl FnMut(Entry)) -> Result<(), String> {
        let number = take(&mut bytes).ok_or(UNREADABLE)?;
        let expected = self.known.block + 1;
        if number != expected {
            let what = if number < expected { "comes twice" } else { "comes too soon" };
            return Err(format!("block {number} {what}: block {expected} should be here"));
        }
        self.known.block = number;
        while let Some((&tag, rest)) = bytes.split_first() {
            bytes = rest;
            each(if tag == EVENT { self.event(&mut bytes) } else { self.attempt(tag, &mut bytes) }.ok_or(UNREADABLE)?);
        }
        Ok(())
    }

    fn attempt(&mut self, tag: u8, bytes: &mut &[u8]) -> Option<Entry> {
        let end = *End::ALL.get(usize::from(tag >> CAUSE_BITS))?;
        let cause = *self.causes.get(usize::from(tag & CAUSE_MASK))?;
        let worker = u32::try_from(take(bytes)?).ok()?;
        let rhythm = self.known.rhythm(worker);
        let scheduled_us = timely(rhythm.foretold().wrapping_add_signed(take_signed(bytes)?))?;
        rhythm.due(scheduled_us);
        let began_us = timely(scheduled_us.checked_add(take(bytes)?)?)?;
        let ended_us = timely(began_us.checked_add(take(bytes)?)?)?;
        Some(Entry::Attempt(Attempt { worker, end, cause, scheduled_us, began_us, ended_us }))
    }

    fn event(&mut self, bytes: &mut &[u8]) -> Option<Entry> {
        let at_us = timely(self.known.event_us.wrapping_add_signed(take_signed(bytes)?))?;
        self.known.event_us = at_us;
        let length = usize::try_from(take(bytes)?).ok()?;
        let (event, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        match postcard::take_from_bytes::<Event>(event) {
            Ok((event, [])) => Some(Entry::Event { at_us, event: Box::new(event) }),
            _ => None,
        }
    }
}

/// A time that the engine's clock can show.
fn timely(us: u64) -> Option<u64> {
    (us <= TIME_US_MAX).then_some(us)
}

/// A century, far from the end of every sum that a reader makes.
pub(super) const TIME_US_MAX: u64 = 100 * 366 * 86_400 * 1_000_000;

const UNREADABLE: &str = "a block cannot be read";
const CAUSE_BITS: u32 = 5;
const CAUSE_MASK: u8 = (1 << CAUSE_BITS) - 1;
/// The tag of an event: an end that no attempt has.
const EVENT: u8 = 7 << CAUSE_BITS;
const _: () = assert!(Cause::ALL.len() <= 1 << CAUSE_BITS && End::ALL.len() < 7);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn attempt() -> impl Strategy<Value = Entry> {
        let (end, cause) = (0..End::ALL.len(), 0..Cause::ALL.len());
        (0..5_u32, end, cause, 0..1_u64 << 50, 0..1_u64 << 40, 0..1_u64 << 40).prop_map(
            |(worker, end, cause, scheduled_us, late, took)| {
                let (end, cause, began_us) = (End::ALL[end], Cause::ALL[cause], scheduled_us + late);
                let ended_us = began_us + took;
                Entry::Attempt(Attempt { worker, end, cause, scheduled_us, began_us, ended_us })
            },
        )
    }

    fn event() -> impl Strategy<Value = Entry> {
        (0..1_u64 << 50, any::<i64>())
            .prop_map(|(at_us, wall)| Entry::Event { at_us, event: Box::new(Event::Wall(wall)) })
    }

    proptest! {
        #[test]
        fn blocks_are_read_as_they_were_written(
            blocks in prop::collection::vec(prop::collection::vec(prop_oneof![attempt(), event()], 1..20), 1..5),
        ) {
            let start = Start { at_us: 86_400_000_000, ..Start::default() };
            let (mut encoder, mut decoder) = (Encoder::new(&start), Decoder::new(&start).expect("its own causes"));
            for block in blocks {
                for entry in &block {
                    prop_assert!(encoder.add(entry));
                }
                let mut read = Vec::new();
                decoder.block(encoder.piece(), |entry| read.push(entry)).expect("a block");
                encoder.next();
                prop_assert_eq!(read, block);
            }
        }

        #[test]
        fn any_bytes_are_a_block_or_an_error(bytes: Vec<u8>) {
            let mut decoder = Decoder::new(&Start::default()).expect("its own causes");
            let _ = decoder.block(&bytes, |_| {});
        }
    }

    /// A worker in its rhythm, late by half a millisecond, whose target answers in three.
    #[test]
    fn an_attempt_of_a_worker_in_its_rhythm_takes_seven_bytes() {
        let start = Start::default();
        let mut encoder = Encoder::new(&start);
        let mut lengths = Vec::new();
        for number in 1..=4_u64 {
            let before = encoder.piece().len();
            let scheduled_us = number * 10_000_000;
            let (began_us, ended_us) = (scheduled_us + 500, scheduled_us + 3_500);
            let (end, cause) = (End::Success, Cause::Ok);
            encoder.add(&Entry::Attempt(Attempt { worker: 100, end, cause, scheduled_us, began_us, ended_us }));
            lengths.push(encoder.piece().len() - before);
        }
        assert_eq!(lengths[2..], [7, 7]);
    }
}
