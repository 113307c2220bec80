//! A journal that is cut at every byte, damaged anywhere, or on a disk that refuses it: reading restores an earlier
//! state, or nothing, and then gives the reason.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_engine::journal::{BackoffRecord, Changes, Contents, Record, Writer, read, read_file};
use probelet_play::cause::Cause;
use probelet_play::history::{ATTEMPTS, History, HistoryRecord, OutcomeKind, PastAttempt};
use probelet_play::worker_record::{WorkerKey, WorkerRecord};
use proptest::prelude::*;

/// A directory that is removed with the test.
struct TestDirectory(PathBuf);

impl TestDirectory {
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

impl Drop for TestDirectory {
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
        window: 0,
        errors: 0,
        in_doubt: run == 1,
        tick_ns: 1_700_000_000_000_000_000 + i64::from(run),
        period: Duration::from_secs(10),
    }
}

fn entry(step: u32) -> BackoffRecord {
    BackoffRecord { delay: Duration::from_secs(10 << step), last_start_ns: 1_700_000_000_000_000_000, step }
}

/// The attempt that ended so many periods after the first one.
fn attempt(number: i64, is_good: bool) -> PastAttempt {
    let (outcome, cause) =
        if is_good { (OutcomeKind::Success, Cause::Ok) } else { (OutcomeKind::Failure, Cause::Status) };
    let at_ms = 1_700_000_000_000 + number * 10_000;
    PastAttempt { at_ms, outcome, cause, duration: Duration::from_millis(3), lateness: Duration::from_micros(800) }
}

fn attempts(first: i64, count: i64) -> HistoryRecord {
    let mut history = History::default();
    for number in first..first + count {
        history.add(&attempt(number, number % 3 != 0), "HTTP probe failed with statuscode: 503");
    }
    history.take_all()
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        4 => (0..6_u8, 0..9).prop_map(|(pod, run)| Record::Worker(key(pod), memory(run))),
        2 => (0..6_u8, 0..9, 1..9_u64).prop_map(|(pod, run, window)| Record::OptedWorker(key(pod), memory(run), window, run)),
        1 => (0..6_u8).prop_map(|pod| Record::WorkerGone(key(pod))),
        2 => (0..6_u8, 0..9_i64).prop_map(|(pod, first)| Record::Attempts(key(pod), attempts(first, 3))),
        2 => (0..4_u8, 0..5_u32).prop_map(|(pod, step)| Record::Backoff(format!("web/{pod}").into(), entry(step))),
        1 => (0..4_u8).prop_map(|pod| Record::BackoffGone(format!("web/{pod}").into())),
    ]
}

/// Writes batch after batch; returns the file's bytes and every state that the journal went through, in order.
fn recorded(name: &str, batches: &[Vec<Record>]) -> (Vec<u8>, Vec<Contents>) {
    let test_directory = TestDirectory::new(name);
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    writer.write([]).expect("an empty journal");
    let mut states = vec![Contents::default()];
    for batch in batches {
        writer.write(batch.clone()).expect("room on the disk");
        for record in batch {
            let mut next = states.last().expect("one").clone();
            next.apply(record.clone());
            states.push(next);
        }
        assert_eq!(Some(writer.contents()), states.last());
    }
    (std::fs::read(test_directory.journal()).expect("a file"), states)
}

fn life() -> Vec<Vec<Record>> {
    let mut batches = Vec::new();
    for run in 0..8 {
        batches.push(vec![Record::Worker(key(0), memory(run)), Record::Worker(key(1), memory(run / 2))]);
        batches.push(vec![Record::Backoff("web/default/app".into(), entry(run as u32))]);
        batches.push(vec![Record::Attempts(key(0), attempts(i64::from(run), 1))]);
    }
    batches.push(vec![Record::WorkerGone(key(1)), Record::BackoffGone("web/default/app".into())]);
    batches.push(vec![Record::Worker(key(1), memory(1))]);
    batches
}

#[test]
fn a_file_cut_at_any_byte_restores_a_state_no_older_than_that_of_a_shorter_cut() {
    let (bytes, states) = recorded("cut", &life());
    let mut reached = 0;
    for length in 0..=bytes.len() {
        let reading = read(&bytes[..length]).expect("a cut journal is still a journal");
        let place = states[reached..].iter().position(|state| *state == reading.contents);
        reached += place.unwrap_or_else(|| panic!("cut at {length}: no state, or an older one than of a shorter cut"));
        assert_eq!(reading.cut, reading.whole != length as u64, "cut at {length}");
    }
    assert_eq!(read(&bytes).expect("whole").contents, states[states.len() - 1]);
}

#[test]
fn writing_continues_after_a_cut_at_any_byte() {
    let (bytes, _) = recorded("go-on", &life());
    let test_directory = TestDirectory::new("go-on-again");
    for length in 0..=bytes.len() {
        std::fs::write(test_directory.journal(), &bytes[..length]).expect("a file");
        let reading = read_file(&test_directory.journal()).expect("a journal");
        let mut writer = Writer::new(&test_directory.journal(), reading.contents, reading.whole);
        writer.write([Record::Worker(key(5), memory(5))]).expect("room on the disk");
        let again = read_file(&test_directory.journal()).expect("a journal");
        assert_eq!((&again.contents, again.cut), (writer.contents(), false), "cut at {length}");
        assert_eq!(again.contents.workers.get(&key(5)), Some(&memory(5)));
    }
}

#[test]
fn a_file_of_another_format_is_refused_with_the_reason() {
    let reason = |bytes: &[u8]| read(bytes).expect_err("refused").0;
    assert_eq!(reason(b"probelet-j3\nwhatever"), "it was written by another version of probelet");
    assert_eq!(reason(b"{\"a\": 1, \"b\": 2}"), "it is not a journal");
    assert_eq!(reason(b"x"), "it is not a journal");
    assert!(reason(&[b"probelet-j1\n".as_slice(), &[0; 40]].concat()).contains("damaged, at byte 12"));
    assert!(reason(&[b"probelet-j2\n".as_slice(), &[0; 40]].concat()).contains("damaged, at byte 12"));
    let missing = read_file(&std::env::temp_dir().join("probelet-no-such-directory/journal")).expect("no journal");
    assert_eq!((missing.whole, missing.cut), (0, false));
}

/// A journal of the version before, which knew no histories.
const OLDER: &[u8] = include_bytes!("../../../fuzz/corpus/journal/life");

#[test]
fn a_journal_without_histories_is_read_and_the_next_write_replaces_it() {
    let test_directory = TestDirectory::new("older");
    std::fs::write(test_directory.journal(), OLDER).expect("a file");
    let reading = read_file(&test_directory.journal()).expect("a journal");
    assert!(reading.is_older && !reading.cut && !reading.contents.workers.is_empty());
    for length in 0..OLDER.len() {
        assert!(read(&OLDER[..length]).expect("a cut journal is still a journal").whole <= reading.whole);
    }
    let mut writer = Writer::new(&test_directory.journal(), reading.contents.clone(), 0);
    writer.write([Record::Attempts(key(5), attempts(0, 2))]).expect("room on the disk");
    let again = read_file(&test_directory.journal()).expect("a journal");
    assert!(!again.is_older);
    assert_eq!(
        (&again.contents.workers, &again.contents.backoff),
        (&reading.contents.workers, &reading.contents.backoff)
    );
    assert_eq!(again.contents.histories.get(&key(5)), Some(&attempts(0, 2)));
}

#[test]
fn a_history_lasts_as_long_as_its_worker() {
    let test_directory = TestDirectory::new("histories");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    for first in (0..100).step_by(5) {
        writer.write([Record::Attempts(key(0), attempts(first, 5))]).expect("room on the disk");
    }
    let read = read_file(&test_directory.journal()).expect("a journal").contents;
    assert_eq!(read.histories.get(&key(0)).map(HistoryRecord::len), Some(ATTEMPTS));
    let last = History::of(&read.histories[&key(0)]).attempts(1)[0];
    assert_eq!((last.outcome, last.cause), (OutcomeKind::Failure, Cause::Status));
    writer.write([Record::WorkerGone(key(0))]).expect("room on the disk");
    assert!(read_file(&test_directory.journal()).expect("a journal").contents.histories.is_empty());
}

/// The bytes that a node's journal gets while each of its probes begins, passes for an hour, and fails once.
fn bytes_of_a_usual_day(with_histories: bool) -> u64 {
    let test_directory = TestDirectory::new(if with_histories { "with" } else { "without" });
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    writer.write([]).expect("room on the disk");
    let mut written = 0;
    for pod in 0..99 {
        let mut history = History::default();
        for number in 0..360 {
            let is_good = number != 300;
            history.add(&attempt(number, is_good), if is_good { "" } else { "HTTP probe failed with statuscode: 503" });
            // The memory changes with the first result, with the failure and with the success after it.
            if ![0, 300, 301].contains(&number) {
                continue;
            }
            let container_id = format!("containerd://{:064}", pod).into();
            let mut records = vec![Record::Worker(key(pod), WorkerRecord { container_id, ..memory(number as i32) })];
            let part = history.take_unwritten(ATTEMPTS_A_WRITE).filter(|_| with_histories);
            records.extend(part.map(|part| Record::Attempts(key(pod), part)));
            let before = writer.tally();
            writer.write(records).expect("room on the disk");
            let after = writer.tally();
            written += after.bytes - if after.snapshots == before.snapshots { before.bytes } else { 0 };
        }
    }
    written
}

/// As many as the engine writes with a memory (live/journal/sync.rs).
const ATTEMPTS_A_WRITE: usize = 16;

#[test]
fn histories_do_not_double_what_a_usual_node_writes() {
    let (without, with) = (bytes_of_a_usual_day(false), bytes_of_a_usual_day(true));
    println!("{without} bytes without histories, {with} with them");
    assert!(with <= 2 * without, "{with} bytes with histories, {without} without");
}

fn make_pipe(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the pointer is to a string that ends in NUL and lives until the call returns.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn anything_but_a_regular_file_is_refused_at_once_with_the_reason() {
    let test_directory = TestDirectory::new("odd");
    let reason = |name: &str| read_file(&test_directory.0.join(name)).expect_err("refused").0;
    std::fs::create_dir(test_directory.0.join("directory")).expect("a directory");
    make_pipe(&test_directory.0.join("pipe"));
    let (bytes, _) = recorded("odd-target", &life());
    std::fs::write(test_directory.0.join("target"), bytes).expect("a file");
    symlink("target", test_directory.0.join("link")).expect("a link");
    symlink("/dev/zero", test_directory.0.join("device")).expect("a link");
    for name in ["directory", "pipe"] {
        assert_eq!(reason(name), "it cannot be opened: it is not a regular file", "{name}");
    }
    for name in ["link", "device"] {
        assert_eq!(reason(name), "it cannot be opened: it is a symbolic link", "{name}");
    }
}

#[test]
fn writing_never_follows_a_link() {
    let test_directory = TestDirectory::new("link");
    let target = test_directory.0.join("target");
    std::fs::write(&target, "of another program").expect("a file");
    symlink("target", test_directory.0.join("journal.new")).expect("a link");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    let error = writer.write([Record::Worker(key(0), memory(1))]).expect_err("a link is in the way");
    assert_eq!(error.to_string(), "it is a symbolic link");
    // The writer removes what it could not write, so the next write succeeds.
    writer.write([]).expect("room on the disk");
    symlink("target", test_directory.0.join("journal.link")).expect("a link");
    let mut writer = Writer::new(&test_directory.0.join("journal.link"), Contents::default(), 12);
    writer.write([Record::Worker(key(1), memory(2))]).expect("the link is replaced");
    assert_eq!(std::fs::read_to_string(&target).expect("a file"), "of another program");
}

#[test]
fn a_journal_stays_short_however_long_it_is_written() {
    let test_directory = TestDirectory::new("short");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    for turn in 0..40_000 {
        writer.write([Record::Worker(key((turn % 50) as u8), memory(turn))]).expect("room on the disk");
        let length = std::fs::metadata(test_directory.journal()).expect("a file").len();
        assert_eq!(length, writer.tally().bytes);
        assert!(length < 300 << 10, "{length} bytes after {turn} changes of 50 workers");
    }
    assert!(writer.tally().snapshots > 1);
    assert_eq!(&read_file(&test_directory.journal()).expect("a journal").contents, writer.contents());
}

#[test]
fn a_record_that_changes_nothing_is_not_written() {
    let test_directory = TestDirectory::new("known");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    writer.write([Record::Worker(key(0), memory(1))]).expect("room on the disk");
    let before = std::fs::metadata(test_directory.journal()).expect("a file").len();
    writer.write([Record::Worker(key(0), memory(1)), Record::WorkerGone(key(9))]).expect("room on the disk");
    assert_eq!(std::fs::metadata(test_directory.journal()).expect("a file").len(), before);
}

#[test]
fn records_that_the_disk_refused_are_written_once_it_takes_them() {
    let test_directory = TestDirectory::new("full");
    let directory = test_directory.0.join("not-yet");
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
fn everything_replaces_what_the_journal_said() {
    let test_directory = TestDirectory::new("everything");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    writer.write([Record::Worker(key(0), memory(1)), Record::Worker(key(1), memory(1))]).expect("room on the disk");
    let all = Changes { is_all: true, records: vec![Record::Worker(key(1), memory(2))] };
    writer.write(all).expect("room on the disk");
    let read = read_file(&test_directory.journal()).expect("a journal").contents;
    assert_eq!(read.workers.into_iter().collect::<Vec<_>>(), [(key(1), memory(2))]);
}

#[test]
fn a_name_too_long_for_a_record_is_counted_and_costs_nothing_else() {
    let test_directory = TestDirectory::new("long");
    let mut writer = Writer::new(&test_directory.journal(), Contents::default(), 0);
    let long = Record::Backoff("x".repeat(100_000).into(), entry(1));
    writer.write([long, Record::Worker(key(0), memory(1))]).expect("room on the disk");
    assert_eq!(writer.tally().refused, 1);
    assert_eq!(read_file(&test_directory.journal()).expect("a journal").contents.workers.len(), 1);
}

proptest! {
    /// The reader notices damage within a file and refuses it, unless the rest is an earlier state.
    #[test]
    fn a_damaged_file_restores_an_earlier_state_or_gives_the_reason(
        records in prop::collection::vec(record(), 1..30),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, states) = recorded("damage", &[records]);
        for (place, flip) in damage {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(reading) = read(&bytes) {
            prop_assert!(states.contains(&reading.contents));
            prop_assert!(reading.whole <= bytes.len() as u64);
        }
    }

    #[test]
    fn any_bytes_at_all_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), named in any::<bool>()) {
        let bytes = if named { [b"probelet-j1\n".as_slice(), &bytes].concat() } else { bytes };
        let _ = read(&bytes);
    }
}
