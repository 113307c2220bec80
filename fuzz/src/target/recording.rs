//! A flight recording's file: the reader accepts or refuses any bytes, and what it accepts can be described and played.

use arbitrary::{Arbitrary, Result, Unstructured};
use probelet_core::spec::ProbeType;
use probelet_play::cause::Cause;
use probelet_play::frame;
use probelet_play::recording::{
    Attempt, Call, ContainerDefinition, ContainerRecord, Encoder, End, Entry, Event, Facts, HandlerKind, PodRecord,
    ProbeRecord, ReadError, Recording, Start, StatusRecord, read_files,
};
use probelet_play::whatif::{Assumption, describe, play as play_pod, played};

/// Plays one input twice: as a file, and as entries that were written well and then damaged.
pub fn play(bytes: &[u8]) {
    let _ = any_file(bytes);
    if let Ok(program) = Unstructured::new(bytes).arbitrary::<Program>() {
        program.play();
    }
}

/// Reads a file. An error is one line with the place; a recording can be described and played.
fn any_file(bytes: &[u8]) -> std::result::Result<Recording, ReadError> {
    let reading = read_files(&[("file", bytes)]);
    match &reading {
        Err(error) => assert!(error.place.starts_with("file: byte ") && !error.to_string().contains('\n'), "{error}"),
        Ok(recording) => use_recording(recording),
    }
    reading
}

fn use_recording(recording: &Recording) {
    assert!(describe(recording).is_object());
    for stretch in &recording.stretches {
        for log in stretch.pods.iter().filter(|log| stretch.end_us.saturating_sub(log.from_us) < SPAN_US_MAX) {
            for assumption in [Assumption::Healthy, Assumption::Failing] {
                assert!(played(stretch, &play_pod(stretch, log, &[], assumption)).is_object());
            }
        }
    }
}

/// Entries of one pod in blocks, and bytes of the file that are flipped.
#[derive(Debug)]
struct Program {
    blocks: Vec<Vec<Entry>>,
    flips: Vec<(u16, u8)>,
}

impl Program {
    fn play(&self) {
        let start = Start { node: "node".into(), at_us: START_US, started_us: START_US, ..Start::default() };
        let whole = bytes_of(&start, &self.blocks);
        let recording = any_file(&whole).expect("it was written well");
        assert_eq!((recording.stretches.len(), recording.cuts.len()), (1, 0));
        for cut in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let cut = any_file(&whole[..cut]).expect("a cut recording is a recording");
            // A cut between two blocks is none.
            assert!(cut.cuts.len() <= 1);
        }
        let mut damaged = whole;
        for (at, bits) in &self.flips {
            let at = usize::from(*at) % damaged.len();
            damaged[at] ^= bits;
        }
        let _ = any_file(&damaged);
    }
}

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let (mut blocks, mut now) = (vec![vec![defined()]], START_US);
        for _ in 0..bytes.int_in_range(0..=BLOCKS_MAX)? {
            let count = bytes.int_in_range(1..=ENTRIES_MAX)?;
            blocks.push((0..count).map(|_| entry(bytes, &mut now)).collect::<Result<_>>()?);
        }
        Ok(Self { blocks, flips: bytes.arbitrary()? })
    }
}

fn defined() -> Entry {
    let probe = ProbeRecord {
        handler: HandlerKind::HttpGet,
        initial_delay_seconds: 0,
        timeout_seconds: 1,
        period_seconds: 5,
        success_threshold: 1,
        failure_threshold: 2,
        initialization_failure_threshold: 0,
        options: None,
    };
    let container = ContainerDefinition { name: "app".into(), probes: [Some(probe); 3], ..Default::default() };
    let record = PodRecord { uid: "u".into(), containers: vec![container], regular: 1, ..PodRecord::default() };
    Entry::Event { at_us: START_US, event: Box::new(Event::Defined { pod: 0, record }) }
}

fn entry(bytes: &mut Unstructured<'_>, now: &mut u64) -> Result<Entry> {
    *now += u64::from(bytes.arbitrary::<u16>()?) * 100;
    let at_us = *now;
    let event = match bytes.int_in_range(0..=5)? {
        0 => {
            let (worker, end) = (bytes.int_in_range(0..=3)?, *bytes.choose(&End::ALL)?);
            let (cause, took) = (*bytes.choose(&Cause::ALL)?, u64::from(bytes.arbitrary::<u32>()?));
            let (scheduled_us, began_us, ended_us) = (at_us, at_us, at_us + took);
            return Ok(Entry::Attempt(Attempt { worker, end, cause, scheduled_us, began_us, ended_us }));
        }
        1 => Event::Called { pod: 0, call: Call::Sync(facts(bytes)?) },
        2 => Event::Called { pod: 0, call: bytes.choose(&[Call::Add, Call::Remove, Call::Forget])?.clone() },
        3 => {
            let (worker, probe_type) = (bytes.int_in_range(0..=3)?, *bytes.choose(&ProbeType::ALL)?);
            let tick_us = bytes.arbitrary()?;
            Event::WorkerStarted { worker, pod: 0, container: "app".into(), probe_type, tick_us }
        }
        4 => Event::Wall(bytes.arbitrary()?),
        _ => Event::Turned,
    };
    Ok(Entry::Event { at_us, event: Box::new(event) })
}

fn facts(bytes: &mut Unstructured<'_>) -> Result<Facts> {
    use probelet_core::podstatus::State::{Running, Terminated, Waiting};
    let started_at_ms = bytes.arbitrary()?;
    let state = *bytes.choose(&[Running { started_at_ms }, Terminated { exit_code: 1 }, Waiting])?;
    let id = format!("c://{}", bytes.int_in_range(0..=2)?).into();
    let container = ContainerRecord { name: "app".into(), id, state, ..ContainerRecord::default() };
    let status = StatusRecord { containers: vec![container], regular: 1, ..StatusRecord::default() };
    Ok(bytes.choose(&[Facts::Same, Facts::New(status)])?.clone())
}

/// The bytes of a segment, a block in a frame.
fn bytes_of(start: &Start, blocks: &[Vec<Entry>]) -> Vec<u8> {
    let mut bytes = start.bytes();
    let mut encoder = Encoder::new(start);
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        for entry in block {
            encoder.add(entry);
        }
        frame::append(&mut bytes, encoder.piece());
        encoder.next();
    }
    bytes
}

/// The engine's clock begins at a day.
const START_US: u64 = 86_400_000_000;
/// An hour: a play of a longer one takes as long as its attempts would, and finds nothing else.
const SPAN_US_MAX: u64 = 3_600_000_000;
const BLOCKS_MAX: usize = 6;
const ENTRIES_MAX: usize = 12;
