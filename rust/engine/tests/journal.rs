//! A journal cut at every byte, damaged anywhere, on a disk that does not take it: what is restored is something that
//! was once true, or nothing, with the reason said.

use std::path::PathBuf;
use std::time::Duration;

use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_engine::journal::{BackoffRecord, Contents, Record, WorkerKey, WorkerRecord, Writer, read, read_file};
use proptest::prelude::*;

/// A directory of its own that goes with the test.
struct Buffers(PathBuf);

impl Buffers {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("probelet-journal-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key(pod: u8) -> WorkerKey {
    let types = [ProbeType::Startup, ProbeType::Readiness, ProbeType::Liveness];
    let pod_uid = format!("8f6c7a52-0000-4000-8000-0000000000{pod:02}");
    WorkerKey { pod_uid: pod_uid.into(), container: "app".into(), probe_type: types[usize::from(pod) % 3] }
}

fn memory(run: i32) -> WorkerRecord {
    WorkerRecord {
        container_id: "containerd://0123456789abcdef".into(),
        result: (run % 3 != 0).then_some(ProbeResult::Success),
        last_result: if run % 2 == 0 { ProbeResult::Failure } else { ProbeResult::Success },
        result_run: run,
        on_hold: run > 5,
        has_initialized: run > 2,
        in_doubt: run == 1,
        tick_ns: 1_700_000_000_000_000_000 + i64::from(run),
        period: Duration::from_secs(10),
    }
}

fn entry(step: u32) -> BackoffRecord {
    BackoffRecord { delay: Duration::from_secs(10 << step), last_start_ns: 1_700_000_000_000_000_000, step }
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        4 => (0..6_u8, 0..9).prop_map(|(pod, run)| Record::Worker(key(pod), memory(run))),
        1 => (0..6_u8).prop_map(|pod| Record::WorkerGone(key(pod))),
        2 => (0..4_u8, 0..5_u32).prop_map(|(pod, step)| Record::Backoff(format!("web/{pod}").into(), entry(step))),
        1 => (0..4_u8).prop_map(|pod| Record::BackoffGone(format!("web/{pod}").into())),
    ]
}

/// Writes batch after batch; returns the file's bytes and everything that was ever true, in order.
fn recorded(name: &str, batches: &[Vec<Record>]) -> (Vec<u8>, Vec<Contents>) {
    let buffers = Buffers::new(name);
    let mut writer = Writer::new(&buffers.journal(), Contents::default(), 0);
    writer.write([]).expect("an empty journal");
    let mut truths = vec![Contents::default()];
    for batch in batches {
        writer.write(batch.clone()).expect("room on the disk");
        for record in batch {
            let mut next = truths.last().expect("one").clone();
            next.apply(record.clone());
            truths.push(next);
        }
        assert_eq!(Some(writer.contents()), truths.last());
    }
    (std::fs::read(buffers.journal()).expect("a file"), truths)
}

fn life() -> Vec<Vec<Record>> {
    let mut batches = Vec::new();
    for run in 0..8 {
        batches.push(vec![Record::Worker(key(0), memory(run)), Record::Worker(key(1), memory(run / 2))]);
        batches.push(vec![Record::Backoff("web/default/app".into(), entry(run as u32))]);
    }
    batches.push(vec![Record::WorkerGone(key(1)), Record::BackoffGone("web/default/app".into())]);
    batches.push(vec![Record::Worker(key(1), memory(1))]);
    batches
}

#[test]
fn a_file_cut_at_any_byte_restores_something_that_was_true_and_never_less_than_a_shorter_one() {
    let (bytes, truths) = recorded("cut", &life());
    let mut reached = 0;
    for length in 0..=bytes.len() {
        let reading = read(&bytes[..length]).expect("a cut journal is still a journal");
        let place = truths[reached..].iter().position(|truth| *truth == reading.contents);
        reached += place.unwrap_or_else(|| panic!("cut at {length}: never true, or older than a shorter cut"));
        assert_eq!(reading.cut, reading.whole != length as u64, "cut at {length}");
    }
    assert_eq!(read(&bytes).expect("whole").contents, truths[truths.len() - 1]);
}

#[test]
fn writing_goes_on_after_a_cut_at_any_byte() {
    let (bytes, _) = recorded("go-on", &life());
    let buffers = Buffers::new("go-on-again");
    for length in 0..=bytes.len() {
        std::fs::write(buffers.journal(), &bytes[..length]).expect("a file");
        let reading = read_file(&buffers.journal()).expect("a journal");
        let mut writer = Writer::new(&buffers.journal(), reading.contents, reading.whole);
        writer.write([Record::Worker(key(5), memory(5))]).expect("room on the disk");
        let again = read_file(&buffers.journal()).expect("a journal");
        assert_eq!((&again.contents, again.cut), (writer.contents(), false), "cut at {length}");
        assert_eq!(again.contents.workers.get(&key(5)), Some(&memory(5)));
    }
}

#[test]
fn a_file_of_somebody_else_is_not_believed_and_said_so() {
    let said = |bytes: &[u8]| read(bytes).expect_err("refused").0;
    assert_eq!(said(b"probelet-j2\nwhatever"), "it was written by another version of probelet");
    assert_eq!(said(b"{\"a\": 1, \"b\": 2}"), "it is not a journal");
    assert_eq!(said(b"x"), "it is not a journal");
    assert!(said(&[b"probelet-j1\n".as_slice(), &[0; 40]].concat()).contains("damaged, at byte 12"));
    let missing = read_file(&std::env::temp_dir().join("probelet-no-such-directory/journal")).expect("no journal");
    assert_eq!((missing.whole, missing.cut), (0, false));
}

#[test]
fn a_journal_stays_short_however_long_it_is_written() {
    let buffers = Buffers::new("short");
    let mut writer = Writer::new(&buffers.journal(), Contents::default(), 0);
    for turn in 0..40_000 {
        writer.write([Record::Worker(key((turn % 50) as u8), memory(turn))]).expect("room on the disk");
        let length = std::fs::metadata(buffers.journal()).expect("a file").len();
        assert_eq!(length, writer.tally().bytes);
        assert!(length < 300 << 10, "{length} bytes after {turn} changes of 50 workers");
    }
    assert!(writer.tally().snapshots > 1);
    assert_eq!(&read_file(&buffers.journal()).expect("a journal").contents, writer.contents());
}

#[test]
fn what_is_known_already_is_not_written() {
    let buffers = Buffers::new("known");
    let mut writer = Writer::new(&buffers.journal(), Contents::default(), 0);
    writer.write([Record::Worker(key(0), memory(1))]).expect("room on the disk");
    let before = std::fs::metadata(buffers.journal()).expect("a file").len();
    writer.write([Record::Worker(key(0), memory(1)), Record::WorkerGone(key(9))]).expect("room on the disk");
    assert_eq!(std::fs::metadata(buffers.journal()).expect("a file").len(), before);
}

#[test]
fn what_a_disk_did_not_take_is_written_once_it_does() {
    let buffers = Buffers::new("full");
    let directory = buffers.0.join("not-yet");
    let mut writer = Writer::new(&directory.join("journal"), Contents::default(), 0);
    writer.write([Record::Worker(key(0), memory(1))]).expect_err("no directory");
    writer.write([Record::Worker(key(1), memory(2))]).expect_err("no directory");
    std::fs::create_dir(&directory).expect("a directory");
    writer.write([]).expect("room on the disk");
    assert_eq!(writer.tally().errors, 2);
    let read = read_file(&directory.join("journal")).expect("a journal").contents;
    assert_eq!(read.workers.keys().collect::<Vec<_>>(), [&key(0), &key(1)]);
}

#[test]
fn a_name_too_long_for_a_record_is_counted_and_costs_nothing_else() {
    let buffers = Buffers::new("long");
    let mut writer = Writer::new(&buffers.journal(), Contents::default(), 0);
    let long = Record::Backoff("x".repeat(100_000).into(), entry(1));
    writer.write([long, Record::Worker(key(0), memory(1))]).expect("room on the disk");
    assert_eq!(writer.tally().refused, 1);
    assert_eq!(read_file(&buffers.journal()).expect("a journal").contents.workers.len(), 1);
}

proptest! {
    /// Damage within a file is found: nothing of it is believed, unless all that is left is an older truth.
    #[test]
    fn a_damaged_file_restores_something_that_was_true_or_says_why_not(
        records in prop::collection::vec(record(), 1..30),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, truths) = recorded("damage", &[records]);
        for (place, flip) in damage {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(reading) = read(&bytes) {
            prop_assert!(truths.contains(&reading.contents));
            prop_assert!(reading.whole <= bytes.len() as u64);
        }
    }

    #[test]
    fn any_bytes_at_all_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), named in any::<bool>()) {
        let bytes = if named { [b"probelet-j1\n".as_slice(), &bytes].concat() } else { bytes };
        let _ = read(&bytes);
    }
}
