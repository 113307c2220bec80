//! A journal's file: the reader accepts or refuses any bytes, and from a damaged journal it restores no record that was
//! not written whole.

use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_core::time::WallOffset;
use probelet_engine::journal::{BackoffRecord, Reading, Record, bytes_of, read};
use probelet_play::cause::Cause;
use probelet_play::history::{ATTEMPTS, History, HistoryRecord, OutcomeKind, PastAttempt};
use probelet_play::worker_record::{WorkerKey, WorkerRecord};

/// Plays one input twice: as a file, and as the damage to a file that was written well.
pub fn play(bytes: &[u8]) {
    any_file(bytes);
    if let Ok(program) = Unstructured::new(bytes).arbitrary::<Program>() {
        program.play();
    }
}

/// Reads a file. Reading must take memory bounded by the file's length, work for every cut of it, and give contents
/// that can be used.
fn any_file(bytes: &[u8]) {
    let Ok(reading) = read(bytes) else { return };
    let whole = reading.whole as usize;
    assert!(whole <= bytes.len());
    assert_eq!(reading.cut, whole < bytes.len());
    assert!(size(&reading) <= bytes.len(), "more came out than went in");
    assert_eq!(read(&bytes[..whole]).expect("its whole part").contents, reading.contents);
    for parts in 1..CUTS {
        let cut = read(&bytes[..bytes.len() * parts / CUTS]).expect("a cut journal is still a journal");
        assert!(cut.whole <= reading.whole);
    }
    use_contents(&reading);
}

/// The bytes of all names in the contents, with a frame for each record.
fn size(reading: &Reading) -> usize {
    let workers = reading.contents.workers.iter();
    let names = workers.map(|(key, it)| key.pod_uid.len() + key.container.len() + it.container_id.len() + FRAME_BYTES);
    names.sum::<usize>() + reading.contents.backoff.keys().map(|key| key.len() + FRAME_BYTES).sum::<usize>()
}

/// Uses the contents as the engine would. No number in them may make that fail.
fn use_contents(reading: &Reading) {
    assert!(reading.to_json().starts_with(b"{"));
    for wall in [WallOffset(0), WallOffset(i64::MIN), WallOffset(i64::MAX)] {
        for (key, record) in &reading.contents.workers {
            let memory = record.to_memory(key, wall);
            assert_eq!((memory.result_run, memory.period), (record.result_run, record.period));
        }
        for record in reading.contents.histories.values() {
            assert!(History::of(record).attempts(ATTEMPTS).len() <= record.len());
        }
        for record in reading.contents.backoff.values() {
            assert_eq!(record.to_entry(wall).delay, record.delay);
        }
    }
}

/// Records to write, and the damage to their file before it is read.
#[derive(Debug)]
struct Program {
    records: Vec<Record>,
    mishaps: Vec<Mishap>,
}

/// What a kill, a disk or another program does to a file.
#[derive(Debug)]
enum Mishap {
    Cut { at: u16 },
    Drop { from: u16, length: u16 },
    Flip { at: u16, bits: u8 },
    Insert { at: u16, bytes: [u8; 4] },
    Repeat { from: u16, length: u16 },
}

impl Program {
    fn play(&self) {
        let mut bytes = bytes_of(&self.records);
        for mishap in &self.mishaps {
            mishap.apply(&mut bytes);
        }
        any_file(&bytes);
        let Ok(reading) = read(&bytes) else { return };
        for (key, memory) in reading.contents.workers {
            assert!(self.records.contains(&Record::Worker(key, memory)), "a memory that was never written");
        }
        for (key, entry) in reading.contents.backoff {
            assert!(self.records.contains(&Record::Backoff(key, entry)), "a delay that was never written");
        }
    }
}

impl Mishap {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let range = |from: u16, length: u16, bytes: &Vec<u8>| {
            let from = place(from, bytes);
            from..(from + usize::from(length)).min(bytes.len())
        };
        match *self {
            Self::Cut { at } => bytes.truncate(place(at, bytes)),
            Self::Drop { from, length } => drop(bytes.drain(range(from, length, bytes))),
            Self::Flip { at, bits } => {
                let at = place(at, bytes);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bits;
                }
            }
            Self::Insert { at, bytes: more } => {
                let at = place(at, bytes);
                drop(bytes.splice(at..at, more));
            }
            Self::Repeat { from, length } => {
                let range = range(from, length, bytes);
                let (end, copy) = (range.end, bytes[range].to_vec());
                drop(bytes.splice(end..end, copy));
            }
        }
    }
}

fn place(at: u16, bytes: &[u8]) -> usize {
    usize::from(at) % (bytes.len() + 1)
}

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let count = bytes.int_in_range(0..=RECORDS_MAX)?;
        let records = (0..count).map(|_| record(bytes)).collect::<Result<_>>()?;
        let count = bytes.int_in_range(0..=MISHAPS_MAX)?;
        Ok(Self { records, mishaps: (0..count).map(|_| mishap(bytes)).collect::<Result<_>>()? })
    }
}

fn mishap(bytes: &mut Unstructured<'_>) -> Result<Mishap> {
    Ok(match bytes.int_in_range(0..=4)? {
        0 => Mishap::Cut { at: bytes.arbitrary()? },
        1 => Mishap::Drop { from: bytes.arbitrary()?, length: bytes.arbitrary()? },
        2 => Mishap::Flip { at: bytes.arbitrary()?, bits: bytes.arbitrary()? },
        3 => Mishap::Insert { at: bytes.arbitrary()?, bytes: bytes.arbitrary()? },
        _ => Mishap::Repeat { from: bytes.arbitrary()?, length: bytes.arbitrary()? },
    })
}

fn record(bytes: &mut Unstructured<'_>) -> Result<Record> {
    Ok(match bytes.int_in_range(0..=6)? {
        6 => Record::Attempts(worker(bytes)?, attempts(bytes)?),
        0 => Record::WorkerGone(worker(bytes)?),
        1 => Record::BackoffGone(entry(bytes)?),
        2 => Record::Backoff(entry(bytes)?, backoff(bytes)?),
        _ => Record::Worker(worker(bytes)?, memory(bytes)?),
    })
}

fn attempts(bytes: &mut Unstructured<'_>) -> Result<HistoryRecord> {
    let mut history = History::default();
    for _ in 0..bytes.int_in_range(0..=ATTEMPTS)? {
        let (outcome, cause) =
            *bytes.choose(&[(OutcomeKind::Success, Cause::Ok), (OutcomeKind::Failure, Cause::Refused)])?;
        let (at_ms, duration, lateness) = (bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?);
        history.add(&PastAttempt { at_ms, outcome, cause, duration, lateness }, bytes.arbitrary()?);
    }
    Ok(history.take_all())
}

fn worker(bytes: &mut Unstructured<'_>) -> Result<WorkerKey> {
    let pod_uid = format!("8f6c7a52-0000-4000-8000-00000000000{}", bytes.int_in_range(0..=3)?).into();
    Ok(WorkerKey { pod_uid, container: "app".into(), probe_type: *bytes.choose(&TYPES)? })
}

fn entry(bytes: &mut Unstructured<'_>) -> Result<Box<str>> {
    Ok(format!("web/{}", bytes.int_in_range(0..=3)?).into())
}

fn memory(bytes: &mut Unstructured<'_>) -> Result<WorkerRecord> {
    Ok(WorkerRecord {
        container_id: format!("containerd://{:04x}", bytes.arbitrary::<u16>()?).into(),
        result: *bytes.choose(&[None, Some(ProbeResult::Success), Some(ProbeResult::Failure)])?,
        last_result: *bytes.choose(&[ProbeResult::Success, ProbeResult::Failure])?,
        result_run: bytes.arbitrary()?,
        on_hold: bytes.arbitrary()?,
        has_initialized: bytes.arbitrary()?,
        window: 0,
        errors: 0,
        in_doubt: bytes.arbitrary()?,
        tick_ns: bytes.arbitrary()?,
        period: bytes.arbitrary()?,
    })
}

fn backoff(bytes: &mut Unstructured<'_>) -> Result<BackoffRecord> {
    let delay: Duration = bytes.arbitrary()?;
    Ok(BackoffRecord { delay, last_start_ns: bytes.arbitrary()?, step: bytes.arbitrary()? })
}

const TYPES: [ProbeType; 3] = [ProbeType::Startup, ProbeType::Readiness, ProbeType::Liveness];
/// Each record follows its length, written twice, and a checksum.
const FRAME_BYTES: usize = 12;
/// A file is cut at the borders of this many parts.
const CUTS: usize = 16;
/// A few kilobytes; larger files find nothing else.
const RECORDS_MAX: usize = 40;
const MISHAPS_MAX: usize = 6;
